gpulink-plan models/llama3-405b.yaml --cluster hgx-h100-16-ndr
