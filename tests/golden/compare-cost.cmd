gpulink-plan compare models/llama3-8b.yaml --cluster hgx-h100-16-ndr --cluster hgx-h100-16-ndr-4to1 --set training.tokens=15e12
