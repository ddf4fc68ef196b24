"""xpto doctor: what is found on this machine, and what each absence costs."""
from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
from dataclasses import asdict, dataclass
from importlib import metadata, util
from pathlib import Path

SUMMARY = "what is found here, and what each absence costs"


@dataclass(frozen=True)
class Finding:
    topic: str
    state: str  # found, absent, broken
    detail: str
    cost: str = ""  # what does not work without it


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _package(name: str, distribution: str, cost: str) -> Finding:
    if util.find_spec(name) is None:
        return Finding(name, "absent", "", cost)
    return Finding(name, "found", _version(distribution))


def _engine() -> Finding:
    try:
        from xpto import _engine as engine
        return Finding("engine", "found", f"{engine.version()}, {engine.__file__}")
    except ImportError as e:
        return Finding("engine", "broken", str(e), "no kernel can be compiled")


def _kernelspec() -> Finding:
    cost = "notebooks do not offer the kernel: xpto install --user"
    try:
        from jupyter_core.paths import jupyter_path
    except ImportError:
        return Finding("kernelspec", "absent", "jupyter_core is not installed for this Python", cost)
    for folder in jupyter_path("kernels"):
        file = Path(folder) / "xpto/kernel.json"
        if file.is_file():
            executable = json.loads(file.read_text(encoding="utf-8"))["argv"][0]
            if shutil.which(executable) is None:
                return Finding("kernelspec", "broken", f"{file} names {executable}, which does not exist", cost)
            return Finding("kernelspec", "found", f"{file} -> {executable}")
    return Finding("kernelspec", "absent", "", cost)


def _language() -> list[Finding]:
    from importlib.machinery import PathFinder
    rows = []
    for name in ("pypto_pro", "pypto"):
        spec = PathFinder.find_spec(name)
        rows.append(Finding(name, "found", f"the installed toolkit, {spec.origin}") if spec is not None else
                    Finding(name, "absent", "a stand-in of xpto answers `import`", "runs on a device; the simulator does not need it"))
    return rows


def _chips() -> Finding:
    from xpto import _engine as engine
    names = engine.chips() if hasattr(engine, "chips") else []
    return Finding("chips to compile for", "found" if names else "absent", ", ".join(names), "" if names else "no target can be chosen")


def _worker() -> Finding:
    from xpto import worker
    try:
        path = worker.executable()
    except Exception as e:
        return Finding("xpto-worker", "absent", str(e), "kernels run on the simulator only")
    return Finding("xpto-worker", "found", path) if os.access(path, os.X_OK) else Finding("xpto-worker", "broken", path, "kernels run on the simulator only")


def _host() -> list[Finding]:
    from xpto import toolchain
    compiler, lacking, tree = toolchain.host_compiler(), toolchain.pto_isa_missing(), toolchain.pto_isa()
    return [Finding("host compiler", "found", f"{compiler}, {toolchain.compiler_version(compiler)}") if compiler else
            Finding("host compiler", "absent", "neither g++ nor clang++ is on PATH", "generated C++ is not run on this machine (device=host)"),
            Finding("PTO-ISA headers", "found", str(tree)) if not lacking else
            Finding("PTO-ISA headers", "broken" if os.environ.get("PTO_ISA_HOME") else "absent", lacking, "generated C++ is not run on this machine (device=host)")]


def _cann() -> list[Finding]:
    from xpto import card_build, card_words, toolchain
    home, lacking = toolchain.toolkit_home(), toolchain.toolkit_missing()
    versions = ", ".join(v for v in (toolchain.toolkit_version(), toolchain.driver_version() and f"driver {toolchain.driver_version()}") if v)
    broken = any(os.environ.get(n) for n in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"))
    found = [Finding("CANN", "found", f"{home}{', ' + versions if versions else ''}") if not lacking else
             Finding("CANN", "broken" if broken else "absent", lacking, "no compilation for a card; kernels run on the simulator or the host")]
    compiler = toolchain.device_compiler()
    found.append(Finding("device compiler", "found", compiler) if compiler else
                 Finding("device compiler", "absent", toolchain.device_compiler_missing(), "generated C++ is not compiled for a card"))
    cost = "nothing runs on a card"
    if not card_build.missing():  # a runtime may be there: ask it
        from xpto import card_place
        cards, why = card_place.look()
        if why:
            found.append(Finding("NPU", "broken", why, cost))
        for card in cards:
            what = f"npu:{card['number']} {card['chip']}".strip() + (" (a fake runtime, no card)" if card["fake"] else "")
            found.append(Finding("NPU", "broken", card["trouble"], cost) if card["trouble"] else Finding("NPU", "found", what))
        if not why and not cards:
            found.append(Finding("NPU", "absent", "the runtime sees no device", cost))
    else:
        files = [f"davinci{n}" for n in card_words.cards_in_dev()]
        found.append(Finding("NPU", "found", f"{', '.join(files)} in {card_words.device_folder()}; not asked without the toolkit") if files else
                     Finding("NPU", "absent", f"no {card_words.device_folder()}/davinci*", cost))
    from xpto.device_run import NEVER_ON_HARDWARE
    found.append(Finding("tested on hardware", "absent", NEVER_ON_HARDWARE, "the device compiler's and a card's own complaints about generated code are not known"))
    return found


def findings() -> list[Finding]:
    rows = [Finding("Python", "found", f"{platform.python_version()}, {sys.executable}")]
    host = sys.modules.get("_xpto_host") or (__import__("_xpto_host") if "_xpto_host" in sys.builtin_module_names else None)
    rows.append(Finding("executable", "found", f"{host.executable} (xeus-python {host.xeus_python_version})") if host else
                Finding("executable", "absent", "this Python runs without it", "no Jupyter kernel from here"))
    rows.append(_engine())
    rows.append(_kernelspec())
    rows.append(_package("IPython", "ipython", "no Jupyter kernel"))
    rows.append(_package("xeus_python_shell", "xeus-python-shell", "no Jupyter kernel"))
    rows.append(_package("numpy", "numpy", "kernels cannot be launched: there is no data"))
    rows.append(_package("torch", "torch", "torch tensors cannot be passed; numpy arrays can"))
    rows.append(_package("matplotlib", "matplotlib", "no plots of your own; the views of xpto need none"))
    if rows[2].state == "found":
        rows.append(_chips())
    rows += [*_language(), _worker(), *_host(), *_cann()]
    return rows


def text(rows: list[Finding]) -> str:
    width = max(len(r.topic) for r in rows)
    lines = []
    for r in rows:
        lines.append(f"{r.topic:<{width}}  {r.state:<6}  {r.detail}".rstrip())
        if r.cost:
            lines.append(f"{'':<{width}}          without it: {r.cost}")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("xpto doctor", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    rows = findings()
    print(json.dumps({"schema": 1, "findings": [asdict(r) for r in rows]}, ensure_ascii=False) if args.json else text(rows))
    return 1 if any(r.state == "broken" for r in rows) else 0
