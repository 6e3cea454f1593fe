gpulink-plan models/minimal.yaml --cluster h200-nvlink
