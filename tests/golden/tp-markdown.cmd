gpulink-plan models/llama-8b-16l-tp.yaml --cluster h200-nvlink --format markdown
