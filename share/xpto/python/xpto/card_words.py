"""What keeps a card from doing what it was asked, in words: what was seen, what it means, what to do."""
from __future__ import annotations

import os
from pathlib import Path

from xpto import toolchain
from xpto.worker import Refused


def device_folder() -> Path:
    return Path(os.environ.get("XPTO_DEVICE_FOLDER", "/dev"))


def cards_in_dev() -> list[int]:
    """Numbers of the device files that are there."""
    return sorted(int(p.name.removeprefix("davinci")) for p in device_folder().glob("davinci[0-9]*") if p.name.removeprefix("davinci").isdigit())


def holders(device: int) -> tuple[list[str], bool]:
    """Processes that have the card's file open ("4711 (python3 train.py)"), and whether others could not be looked at."""
    wanted, found, hidden = str(device_folder() / f"davinci{device}"), [], False
    for process in sorted((p for p in Path("/proc").iterdir() if p.name.isdigit()), key=lambda p: int(p.name)):
        try:
            opened = any(os.readlink(link) == wanted for link in (process / "fd").iterdir())
        except PermissionError:
            hidden = True
            continue
        except OSError:
            continue  # it has ended meanwhile
        if opened and int(process.name) != os.getpid():
            try:
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()[:80]
            except OSError:
                command = ""
            found.append(f"{process.name} ({command})" if command else process.name)
    return found, hidden


def _busy(device: int) -> str:
    found, hidden = holders(device)
    if found:
        who = f"held by process {', '.join(found)}"
    else:
        who = "its holder belongs to another user and cannot be seen from here" if hidden else "no process here has it open: perhaps another container does"
    return f"npu:{device} is busy: {who}. Wait for it, end it, or choose another card (%pto_device lists them)"


def _driver(said: str) -> str:
    driver, toolkit = toolchain.driver_version(), toolchain.toolkit_version()
    versions = ", ".join(v for v in (driver and f"driver {driver}", toolkit and f"toolkit {toolkit}") if v)
    return ("driver and toolkit do not fit each other" + (f" ({versions})" if versions else "") + f": {said}. "
            "Install the toolkit that belongs to the driver, or the other way round; the container must see the host's driver folder")


def sentence(device: int, trouble: Refused, library: str) -> str:
    """One paragraph for the kinds of engine/backend/ascend_runtime.hpp."""
    said = trouble.said.strip() or "no words from the runtime"
    number = f" (code {trouble.code})" if trouble.code else ""
    place = f"npu:{device}"
    if trouble.kind == "busy":
        return _busy(device) + number
    if trouble.kind == "dead":
        return (f"{place} does not answer{number}: {said}. The card or its driver is down, no process holds it; `npu-smi info` shows its health, and whoever "
                "administers the machine can reset it")
    if trouble.kind == "driver":
        return _driver(said) + number
    if trouble.kind == "absent":
        if trouble.call == "dlopen":
            lacking = toolchain.toolkit_missing()
            return f"the runtime library {library} cannot be opened: {said}" + (f". {lacking[0].upper()}{lacking[1:]}" if lacking else "")
        cards = cards_in_dev()
        files = f"; device files here: {', '.join(f'davinci{n}' for n in cards)}" if cards else f"; there is no device file {device_folder()}/davinci*"
        return f"there is no {place}{number}: {said}{files}"
    if trouble.kind == "permission":
        return f"{place} may not be used by this user{number}: {said}. The user must be in the group of {device_folder()}/davinci{device} (HwHiAiUser)"
    if trouble.kind == "memory":
        return f"{place} has no memory left for the arguments{number}: {said}"
    if trouble.kind == "fault":
        return (f"the card stopped the kernel{number}: {said}. Arguments are as before; the simulator (device=sim) names accesses out of range and races")
    if trouble.kind == "stalled":
        return f"the card's own watchdog ended the kernel{number}: {said}. It waits for something that never comes: device=sim says who waits for whom"
    return f"{place}: {trouble.call or 'the worker'} failed{number}: {said}"
