"""Host agent of pulumi-vllm: standard library only, sent on stdin, never installed."""
