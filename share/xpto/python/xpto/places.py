"""Where kernels can run: the simulator always; for the others, in words, what is missing here."""
from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from xpto.errors import LaunchError


def _toolkit() -> str:
    """Empty when the toolkit's environment is set; otherwise what is missing and who can set it."""
    home = os.environ.get("ASCEND_HOME_PATH") or os.environ.get("ASCEND_TOOLKIT_HOME")
    if home and Path(home).is_dir():
        return ""
    if home:
        return f"ASCEND_HOME_PATH is {home}, which is no folder"
    return ("the toolkit's environment is not set (ASCEND_HOME_PATH): source its set_env.sh in the shell that starts the notebook "
            "server, or put the variables into \"env\" of the kernelspec (kernel.json)")


def missing(device: str) -> list[str]:
    """What keeps kernels from running on a device, one sentence each; empty when they can."""
    if device == "sim":
        return []
    if device == "host":
        found = [] if any(shutil.which(c) for c in ("c++", "g++", "clang++")) else ["no C++ compiler is on PATH"]
        return [*found, "this version has no launcher for compiled host code: generated C++ can be read (%pto_cpp), not run"]
    number = int(device.split(":")[1])
    found = [_toolkit()]
    if not Path(f"/dev/davinci{number}").exists():
        cards = sorted(p.name.removeprefix("davinci") for p in Path("/dev").glob("davinci[0-9]*"))
        found.append(f"there is no /dev/davinci{number}; " + (f"cards here: {', '.join(cards)}" if cards else "no card is visible here"))
    if not (shutil.which("bisheng") or shutil.which("ccec")):
        found.append("the device compiler (bisheng) is not on PATH")
    return [*filter(None, found), "this version has no device runtime: kernels run on the simulator"]


def check(device: str) -> str:
    """The device's name when kernels can run there; LaunchError with what is missing otherwise."""
    name = device.strip().lower()
    name = {"simulator": "sim", "npu": "npu:0"}.get(name, name)
    if name not in ("sim", "host") and not re.fullmatch(r"npu:\d+", name):
        raise LaunchError(f"no device {device!r}; write sim, host or npu:N")
    lacks = missing(name)
    if lacks:
        raise LaunchError(f"{name} cannot be chosen, nothing was changed: the simulator still works (device=sim)\n" + "\n".join("- " + x for x in lacks))
    return name


def devices() -> list[dict[str, Any]]:
    """Every place a kernel could run, with what is missing for it."""
    cards = sorted(int(p.name.removeprefix("davinci")) for p in Path("/dev").glob("davinci[0-9]*")) or [0]
    return [{"device": d, "usable": not missing(d), "missing": missing(d)} for d in ("sim", "host", *(f"npu:{n}" for n in cards))]
