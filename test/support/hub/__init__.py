"""A model hub on this machine: what `hf` and vLLM ask of a real one, with faults that are switched while it runs.

In a test of the agent: `with Hub({"repositories": {...}}) as hub: ... hub.url`; as a process: `python3 serve.py CONFIG.json`.
README.md lists what a config, a fault and the control endpoint look like.
"""

from .server import Hub as Hub
