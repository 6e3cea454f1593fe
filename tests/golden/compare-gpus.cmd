gpulink-plan compare models/llama3-8b.yaml --cluster pcie5-pairs-16 --cluster pcie5-switch-16 --cluster hgx-h100-16-ndr --format csv --table options
