gpulink-plan compare models/llama-1.1b-ddp.yaml --cluster h200-nvlink --cluster h200-host-memory --cluster h200-socket
