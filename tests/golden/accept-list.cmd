gpulink-plan accept models/llama3-70b.yaml --cluster hgx-h100-16-ndr
