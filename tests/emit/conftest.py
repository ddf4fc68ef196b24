"""Helpers of the emission tests: where the build is, syntax checks against a tree of headers."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("XPTO_BUILD", ROOT / "build"))
sys.path.insert(0, str(ROOT / "tests" / "python"))
sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
