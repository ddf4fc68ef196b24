"""Where kernels can run: the simulator always; for the others, in words, what is missing here."""
from __future__ import annotations

import os
import re
from typing import Any, Mapping

from xpto.errors import LaunchError

# what only the simulator can do
_SIMULATOR_ONLY = ("seed", "order", "hostile")

_open: dict[str, Any] = {}


def normal(device: str) -> str:
    """sim, host or npu:N; LaunchError for anything else."""
    name = device.strip().lower()
    name = {"simulator": "sim", "npu": "npu:0", "cpu": "host"}.get(name, name)
    if name not in ("sim", "host") and not re.fullmatch(r"npu:\d+", name):
        raise LaunchError(f"no device {device!r}; write sim, host or npu:N")
    return name


def missing(device: str) -> list[str]:
    """What keeps kernels from running on a device, one sentence each; empty when nothing that can be seen without taking a card does."""
    if device == "sim":
        return []
    if device == "host":
        from xpto import host_build
        return host_build.missing()
    from xpto import card_build, card_words
    number, found = int(device.split(":")[1]), card_build.missing()
    if not os.environ.get("XPTO_RUNTIME") and number not in card_words.cards_in_dev():
        cards = card_words.cards_in_dev()
        found.append(f"there is no {card_words.device_folder()}/davinci{number}; " + (f"cards here: {', '.join(map(str, cards))}" if cards else "no card is visible here"))
    return found


def check(device: str, look: bool = False) -> str:
    """The device's name when kernels can run there; LaunchError with what is missing otherwise. `look` also asks the card itself."""
    name = normal(device)
    lacks = missing(name)
    if look and not lacks and name.startswith("npu:") and name not in _open:
        from xpto import card_place
        rows, why = card_place.look()
        row = next((r for r in rows if r["number"] == int(name[4:])), None)
        if why:
            lacks = [why]
        elif row is None:
            lacks = [f"there is no {name}: the runtime sees {len(rows)} device{'s' * (len(rows) != 1)}"]
        elif row["trouble"]:
            lacks = [row["trouble"]]
    if lacks:
        raise LaunchError(f"{name} cannot be chosen, nothing was changed: the simulator still works (device=sim)\n" + "\n".join("- " + x for x in lacks))
    return name


def place(name: str) -> Any:
    """The open place of that name: it keeps its worker from launch to launch."""
    if name not in _open:
        if name == "host":
            from xpto.host_place import HostPlace
            _open[name] = HostPlace()
        else:
            from xpto.card_place import CardPlace
            _open[name] = CardPlace(int(name[4:]))
    return _open[name]


def launch(name: str, kernel: Any, compiled: Any, values: list[Any], converted: list[dict[str, Any]], block_dim: int, options: Mapping[str, Any]) -> Any:
    """One launch outside the simulator."""
    asked = [k for k in _SIMULATOR_ONLY if options.get(k) not in (None, "")]
    if asked:
        raise LaunchError(f"{asked[0]}= chooses an order of events, which only the simulator can: device=sim")
    wait = {"wait": bool(options.get("wait", True))} if name.startswith("npu:") else {}
    return place(name).launch(kernel, compiled, values, converted, block_dim, **wait)


def restart() -> list[str]:
    """Ends every worker, and with it all it holds. Names what was ended."""
    ended = []
    for name, opened in list(_open.items()):
        how = opened.restart() if hasattr(opened, "restart") else opened.close()
        ended.append(name + (f" (its worker ended by {how})" if how else ""))
        del _open[name]
    return ended


def occupied(name: str) -> str:
    """What still runs there, in words; empty when nothing does."""
    opened = _open.get(name)
    return opened.occupied() if hasattr(opened, "occupied") else ""


def devices(look: bool = True) -> list[dict[str, Any]]:
    """Every place a kernel could run, with what is missing for it; cards are asked themselves where a runtime is found."""
    rows: list[dict[str, Any]] = [{"device": d, "usable": not missing(d), "missing": missing(d), "chip": ""} for d in ("sim", "host")]
    from xpto import card_build, card_words
    asked: list[dict[str, Any]] = []
    if look and not card_build.missing():
        from xpto import card_place
        asked, why = card_place.look()
        if why:
            return [*rows, {"device": "npu:0", "usable": False, "missing": [why], "chip": ""}]
    if asked:
        for card in asked:
            name = f"npu:{card['number']}"
            busy = occupied(name)
            lacks = [busy] if busy else [card["trouble"]] if card["trouble"] and name not in _open else []
            chip = (card["chip"] or getattr(_open.get(name), "chip", "")) + (" (a fake runtime, no card)" if card["fake"] else "")
            rows.append({"device": name, "usable": not lacks, "missing": lacks, "chip": chip.strip()})
        return rows
    return [*rows, *({"device": f"npu:{n}", "usable": not missing(f"npu:{n}"), "missing": missing(f"npu:{n}"), "chip": ""} for n in card_words.cards_in_dev() or [0])]
