gpulink-plan models/llama-1.1b-ddp.yaml --cluster h200-nvlink --format csv
