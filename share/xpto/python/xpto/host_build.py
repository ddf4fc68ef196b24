"""Generated C++ as shared libraries for the host: one per core kind, compiled against the user's PTO-ISA headers and our shim (share/xpto/host)."""
from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping

from xpto import builds, toolchain
from xpto.errors import LaunchError

FLAGS = ["-std=c++20", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-D__CPU_SIM"]
GNU_FLAGS = ["-fno-gnu-unique"]  # else both core kinds' libraries would share the simulator's state
COMPILE_SECONDS = 300

# what the generated text spells in the device compiler's own way and no macro can turn
_SPELLINGS = [(re.compile(r"reinterpret_cast<(?:volatile )?__ssbuf__ (?:volatile )?uint32_t\s*\*>\("), "xpto_host::shared_words(")]

ENTRY = '''#include "xpto_host.hpp"
#include "kernel.cpp"
extern "C" __attribute__((visibility("default"))) void xpto_prepare(XptoCore* core) {{ xpto_host::prepare(core); }}
extern "C" __attribute__((visibility("default"))) void xpto_run(XptoCore*, void** a) {{ {name}({arguments}); }}
'''


@dataclass(frozen=True)
class HostBuild:
    folder: Path
    cube: str      # library, empty when the kernel has no such core
    vector: str
    fresh: bool    # compiled now
    headers: str   # which tree, in words
    compiler: str


def shim_folder() -> Path:
    """share/xpto/host: beside the package in a build folder, a checkout or an installation."""
    package = Path(__file__).resolve().parent
    for up in (package.parents[1] / "share/xpto/host", *[p / "host" for p in package.parents[:4]]):
        if (up / "xpto_host.hpp").is_file():
            return up
    raise LaunchError(f"the host shim (xpto_host.hpp) is not beside the package {package}")


def entry_of(kernel_text: str) -> tuple[str, list[str]]:
    """The translation unit's entry and the C++ types of its parameters."""
    name, parameters = re.findall(r"inline void (\w+_impl)\((.*?)\)\s*\{", kernel_text)[-1]
    types = [p.strip().rsplit(" ", 1)[0].replace("__gm__ ", "") for p in parameters.split(",") if p.strip()]
    return name, types


def missing() -> list[str]:
    """What keeps generated C++ from being compiled here, one sentence each."""
    found = []
    if toolchain.host_compiler() is None:
        found.append("no C++ compiler is on PATH (g++ from 12 on; XPTO_CXX can name another)")
    if lacking := toolchain.pto_isa_missing():
        found.append(lacking)
    return found


def refusals(emitted: Mapping[str, Any], compiler: str) -> list[str]:
    """What of a kernel has no host form; empty when it can be tried."""
    text = emitted["files"]["kernel.cpp"]
    found = builds.unbuildable(emitted)
    if "bfloat16_t" in text and not _has_bf16(compiler):
        found.append("the kernel uses bfloat16, which this compiler has not (the simulator's headers would silently make it fp16): "
                     "g++ from 13 on, or clang with <stdfloat>")
    if "__simt_vf__" in text or "async_invoke" in text:
        found.append("SIMT functions have no host form; the simulator runs them")
    return found


def _has_bf16(compiler: str) -> bool:
    version = re.search(r"(\d+)\.\d+\.\d+", toolchain.compiler_version(compiler))
    return bool(version) and "clang" not in toolchain.compiler_version(compiler) and int(version.group(1)) >= 13


def _overlay(include: str, folder: Path) -> None:
    """Copies of headers that this compiler refuses as they are, made usable: an assertion that always fails is made to depend on the
    template it stands in, as newer compilers read it anyway."""
    source = Path(include) / "pto/cpu/TReduceIdx.hpp"
    if not source.is_file():
        return
    text = source.read_text(encoding="utf-8")
    found = re.search(r"static_assert\(\s*false\b", text)
    if found is None:
        return
    parameters = re.findall(r"typename (\w+)", text[:found.start()])
    if parameters:
        target = folder / "pto/cpu/TReduceIdx.hpp"
        target.parent.mkdir(parents=True)
        target.write_text(text[:found.start()] + f"static_assert(sizeof({parameters[-1]}) == 0" + text[found.end():], encoding="utf-8")


def command(compiler: str, side: str, folder: Path, include: str, extra: tuple[str, ...] = ()) -> list[str]:
    gnu = GNU_FLAGS if "clang" not in toolchain.compiler_version(compiler) else []
    bf16 = ["-std=c++23", "-DPTO_CPU_SIM_ENABLE_BF16"] if _has_bf16(compiler) else []
    return [compiler, *FLAGS, *gnu, *bf16, *extra, f"-D__DAV_{side}__", f"-I{shim_folder()}", f"-I{folder / 'overlay'}", f"-I{include}", f"{side}.cpp",
            "-o", f"{side}.so"]


def _shim_text() -> str:
    return "\n".join(p.read_text(encoding="utf-8") for p in sorted(shim_folder().glob("*.h*")))


def build(emitted: Mapping[str, Any]) -> HostBuild:
    """Compiles a kernel's generated text, or finds it compiled. LaunchError with the compiler's words when refused. XPTO_HOST_CXXFLAGS adds flags."""
    extra = tuple(shlex.split(os.environ.get("XPTO_HOST_CXXFLAGS", "")))
    if lacking := missing():
        raise LaunchError("host cannot compile:\n" + "\n".join("- " + x for x in lacking))
    compiler, tree = toolchain.host_compiler(), toolchain.pto_isa()
    assert compiler is not None and tree is not None
    if lacking := refusals(emitted, compiler):
        raise LaunchError("no host C++ for this kernel:\n" + "\n".join("- " + x for x in lacking))
    sides = [s for s, there in (("CUBE", emitted["cube"]), ("VEC", emitted["vector"])) if there]
    files = {n: t for n, t in emitted["files"].items() if n.endswith((".cpp", ".h")) and n != "call_kernel.cpp"}
    for pattern, replacement in _SPELLINGS:
        files["kernel.cpp"] = pattern.sub(replacement, files["kernel.cpp"])
    name, types = entry_of(files["kernel.cpp"])
    entry = ENTRY.format(name=name, arguments=", ".join(f"*({t}*)a[{i}]" for i, t in enumerate(types)))
    version = toolchain.compiler_version(compiler)

    def make(folder: Path) -> None:
        (folder / "overlay").mkdir()
        _overlay(tree.include, folder / "overlay")
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        running = []
        for side in sides:
            (folder / f"{side}.cpp").write_text(entry, encoding="utf-8")
            line = command(compiler, side, folder, tree.include, extra)
            (folder / f"{side}.command.txt").write_text(" ".join(line) + "\n", encoding="utf-8")
            running.append((side, subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")))
        said = []
        try:
            for side, process in running:
                out, _ = process.communicate(timeout=COMPILE_SECONDS)
                if process.returncode:
                    said.append(f"{side}: " + _first_errors(out))
        finally:
            for _, process in running:
                if process.poll() is None:
                    process.kill()
        if said:
            raise LaunchError(f"{emitted['name']}: the host's compiler refuses the generated C++ ({version}; {tree})\n" + "\n".join(said))

    parts = [compiler, version, tree.digest, hashlib.sha256(_shim_text().encode()).hexdigest(), *FLAGS, *extra, entry, *sides]
    parts += [f"{n}\0{t}" for n, t in sorted(files.items())]
    folder, fresh = builds.folder("host", parts, make)
    library = lambda side: str(folder / f"{side}.so") if side in sides else ""
    return HostBuild(folder, library("CUBE"), library("VEC"), fresh, str(tree), version)


def _first_errors(text: str, most: int = 6) -> str:
    lines = [l for l in text.splitlines() if "error" in l or "undefined" in l] or text.splitlines()
    return "\n".join(lines[:most]) + (f"\n({len(lines) - most} more)" if len(lines) > most else "")
