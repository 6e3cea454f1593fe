gpulink-plan accept models/llama-1.1b-ddp.yaml --cluster h200-nvlink --measured h200-host-memory --table acceptance --format csv || [ $? = 1 ]
