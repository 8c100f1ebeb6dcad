"""Which files of a checkpoint hold its weights."""

# Formats that vLLM 0.32 loads weights from. Source: vllm/model_executor/model_loader/default_loader.py.
WEIGHT_SUFFIXES = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
