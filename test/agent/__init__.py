"""Tests of the host agent. Run from the top: python3 -m unittest discover -s test/agent -t ."""

import sys
from pathlib import Path

AGENT_FOLDER = Path(__file__).resolve().parents[2] / "provider" / "src" / "remote" / "agent"

sys.dont_write_bytecode = True
sys.path.insert(0, str(AGENT_FOLDER.parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support" / "package-index"))
