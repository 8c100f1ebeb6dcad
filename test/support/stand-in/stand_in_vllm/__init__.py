"""A stand-in for vLLM 0.32.0: what was observed of the real one, without the model."""
