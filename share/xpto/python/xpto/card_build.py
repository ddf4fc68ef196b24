"""Generated C++ as a library for a card: the device compiler's own command line, and one function that calls the launcher by a list of pointers."""
from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping

from xpto import builds, toolchain
from xpto.errors import LaunchError

COMPILE_SECONDS = 600


@dataclass(frozen=True)
class CardBuild:
    library: str
    folder: Path
    fresh: bool
    headers: str
    compiler: str


def thunk(call_kernel: str) -> str:
    """A translation unit with the launcher in it and `xpto_call`, which any process can call without knowing the kernel's parameters."""
    parameters = re.search(r"call_kernel\((.*?)\)\s*\{", call_kernel, re.S)
    assert parameters is not None
    types = [p.strip().rsplit(" ", 1)[0] for p in parameters.group(1).split(",")]
    arguments = "".join(f", *({t}*)values[{i}]" for i, t in enumerate(types[2:]))
    return ('#include "call_kernel.cpp"\n\n'
            f'extern "C" void xpto_call(uint32_t blockDim, void* stream, void** values) {{\n    call_kernel(blockDim, stream{arguments});\n}}\n')


def command(emitted: Mapping[str, Any], compiler: str) -> list[str]:
    """The kernel's command line with variables filled in and the launcher's file replaced by ours."""
    home = str(toolchain.toolkit_home() or "")
    known = {"ASCEND_HOME_PATH": home, "ASCEND_TOOLKIT_HOME": os.environ.get("ASCEND_TOOLKIT_HOME") or home}
    filled = [re.sub(r"\$\{?(\w+)\}?", lambda m: known.get(m.group(1), os.environ.get(m.group(1), "")), a) for a in emitted["command"]]
    return [compiler, *("xpto_call.cpp" if a == "call_kernel.cpp" else a for a in filled[1:])]


def missing() -> list[str]:
    return [x for x in (toolchain.toolkit_missing(), toolchain.device_compiler_missing()) if x]


def build(emitted: Mapping[str, Any]) -> CardBuild:
    if lacking := missing():
        raise LaunchError("nothing can be compiled for a card:\n" + "\n".join("- " + x for x in lacking))
    if lacking := builds.unbuildable(emitted):
        raise LaunchError("no C++ for this kernel:\n" + "\n".join("- " + x for x in lacking))
    compiler = toolchain.device_compiler()
    assert compiler is not None
    line = command(emitted, compiler)
    trees = toolchain.trees_of(line)
    files = {n: t for n, t in emitted["files"].items() if n.endswith((".cpp", ".h"))}
    files["xpto_call.cpp"] = thunk(files["call_kernel.cpp"])
    out = line[line.index("-o") + 1]

    def make(folder: Path) -> None:
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        (folder / "command.txt").write_text(" ".join(line) + "\n", encoding="utf-8")
        try:
            done = subprocess.run(line, cwd=folder, capture_output=True, text=True, errors="replace",
                                  timeout=COMPILE_SECONDS, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise LaunchError(f"{emitted['name']}: the device compiler did not end within {COMPILE_SECONDS} s") from None
        if done.returncode:
            said = "\n".join((done.stdout + done.stderr).strip().splitlines()[:12])
            raise LaunchError(f"{emitted['name']}: the device compiler refuses the generated C++ ({toolchain.compiler_version(compiler)}; {trees.text()})\n{said}")

    parts = [compiler, toolchain.compiler_version(compiler), trees.used.digest if trees.used else "", *line]
    parts += [f"{n}\0{t}" for n, t in sorted(files.items())]
    folder, fresh = builds.folder("npu", parts, make)
    return CardBuild(str(folder / Path(out).name), folder, fresh, trees.text(), toolchain.compiler_version(compiler))
