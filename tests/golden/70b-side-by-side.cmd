gpulink-plan models/llama3-70b.yaml --cluster hgx-h100-16-ndr --cluster hgx-h100-16-ndr-4to1
