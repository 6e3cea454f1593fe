gpulink-plan explain models/llama-1.1b-ddp.yaml --cluster h200-nvlink 1
