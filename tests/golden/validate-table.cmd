gpulink-plan validate data/validation/megatron-2022.csv
