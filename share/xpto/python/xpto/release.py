"""A kernel as a package for the operator library: every legal key compiled, sources, objects or the commands that make them, manifests.

    DIR/kernel_meta/                      sources and objects of each key, the fat object, build.sh
    DIR/op_impl/ai_core/tbe/kernel/<soc>/<op>/<OpType>_<md5>.json  (and .o)
    DIR/op_impl/ai_core/tbe/kernel/config/<soc>/<op>.json, binary_info_config.json
    DIR/op_impl/ai_core/tbe/config/<soc>/aic-<soc>-ops-info.json
    DIR/binary/                           headers for the host's tiling code, the source that infers keys
"""
from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping

from xpto import builds, release_manifest as manifests, release_texts as texts, tiling_keys
from xpto.errors import PtoError

COMPILE_SECONDS = 600
_ARCHS = {"a5": "dav-c310", "a3": "dav-c220", "a2": "dav-c220"}


@dataclass
class Variant:
    key: dict[str, int]
    number: int
    made: Any = None
    refused: str = ""
    emitted: dict[str, Any] = field(default_factory=dict)
    objects: list[str] = field(default_factory=list)


@dataclass
class Release:
    kernel: str
    folder: Path
    soc: str
    variants: list[Variant]
    invalid: list[dict[str, int]]        # what is_valid refuses: no variant at all
    files: list[str] = field(default_factory=list)
    commands: list[list[str]] = field(default_factory=list)  # what was not run here, in order
    missing: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return not self.missing and not self.refused

    @property
    def refused(self) -> list[Variant]:
        return [v for v in self.variants if v.refused]

    def to_json(self) -> dict[str, Any]:
        return {"schema": 1, "kernel": self.kernel, "soc": self.soc, "folder": str(self.folder), "files": self.files,
                "keys": [{"number": v.number, "key": v.key, "refused": v.refused, "objects": v.objects} for v in self.variants],
                "invalid_keys": self.invalid, "missing": self.missing, "commands": [shlex.join(c) for c in self.commands]}

    def text(self) -> str:
        good = len(self.variants) - len(self.refused)
        lines = [f"{self.kernel} for {self.soc}: {good} of {len(self.variants)} keys, {len(self.files)} files in {self.folder}"]
        if self.invalid:
            lines.append(f"{len(self.invalid)} combinations are refused by is_valid")
        lines += [f"REFUSED  key {v.number} ({tiling_keys.text(v.key)}): {v.refused}" for v in self.refused]
        if self.missing:
            lines += ["no objects were made here:", *("- " + m for m in self.missing),
                      f"the missing step, where the device compiler is: cd {shlex.quote(str(self.folder / 'kernel_meta'))} && sh build.sh"]
            lines += ["  " + shlex.join(c) for c in self.commands]
        return "\n".join(lines)


def compile_keys(kernel: Any, datatype: Mapping[str, Any] | None, static_shapes: list[list[int]] | None, target: str) -> tuple[list[Variant], list[dict[str, int]]]:
    """Every legal key through the whole compiler, in parallel; the order is that of the keys. A refused one keeps its reason and stops none
    of the others."""
    key_class = kernel.options.get("tiling_key")
    legal, invalid = tiling_keys.split(key_class) if key_class is not None else ([{}], [])
    overrides = {"target": target} if target else {}

    def one(key: dict[str, int]) -> Variant:
        v = Variant(key, tiling_keys.packed(key_class, key) if key_class is not None else 0)
        try:
            v.made = kernel.compile(tiling_key=key, datatype=kernel._datatypes(datatype), static_shapes=static_shapes, **overrides)
        except PtoError as e:
            v.refused = str(e)
            return v
        if not v.made.ok:
            first = next((d for d in v.made.diagnostics if d["severity"] == "error"), None)
            v.refused = f"{first['file']}:{first['line']} {first['code']}: {first['message']}" if first else "refused"
            return v
        v.emitted = v.made.native.emitted()
        if lacking := builds.unbuildable(v.emitted):
            v.refused = lacking[0]
        return v

    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        out = list(pool.map(one, legal))
    kernel.last = next((v.made for v in reversed(out) if v.made is not None), kernel.last)  # whichever thread came last
    return out, invalid


def _tiling_bytes(params: list[Mapping[str, Any]]) -> int:
    from xpto.launch_values import packed_tiling
    for p in params:
        if p["kind"] == "tiling":
            return len(packed_tiling(p["fields"], [[0] * max(1, f["length"]) for f in p["fields"]]))
    return 0


def _static_dims(params: list[Mapping[str, Any]]) -> list[str]:
    return [f"{p['name']}, axis {a}" for p in params for a, d in enumerate(p["dims"]) if d["static"]]


class _Writer:
    def __init__(self, folder: Path) -> None:
        self.folder, self.files = folder, []  # type: ignore[var-annotated]

    def put(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.files.append(name)
        return path

    def json(self, name: str, value: Any) -> Path:
        return self.put(name, json.dumps(value, indent=2) + "\n")


def make(kernel: Any, folder: Path, *, target: str = "", datatype: Mapping[str, Any] | None = None, static_shapes: list[list[int]] | None = None,
         real_type: bool = False) -> Release:
    """Writes the package. Raises PtoError when no key can be released; otherwise the release says what is missing."""
    name = kernel.__name__
    variants, invalid = compile_keys(kernel, datatype, static_shapes, target)
    good = [v for v in variants if not v.refused]
    if not good:
        reasons = "\n".join(f"- {tiling_keys.text(v.key)}: {v.refused}" for v in variants) or f"- is_valid refuses all {len(invalid)} combinations"
        raise PtoError(f"{name} cannot be released, every key is refused:\n{reasons}")
    first, params = good[0], good[0].made.native.params()
    if not static_shapes and (dims := _static_dims(params)):
        raise PtoError(f"{name} takes sizes from the call that an offline build does not have ({'; '.join(dims)}); give them with --shape NAME=ROWS,COLS")
    emitted, soc = first.emitted, first.emitted["chip"]
    mix = not real_type or (emitted["cube"] and emitted["vector"])
    out, meta = _Writer(folder), "kernel_meta/"
    info = manifests.support_info(name, params)
    bin_name = manifests.bin_name(name, info)
    release = Release(name, folder, soc, variants, invalid)
    jobs: list[tuple[str, list[str]]] = []
    headers = {n: t for v in good for n, t in v.emitted["files"].items() if n.endswith("_tiling.h")}
    for header, text in headers.items():
        out.put(meta + header, text)
        out.put("binary/" + header, text)
    for v in good:
        implementation = f"{name}_{v.number}_impl.cpp"
        out.put(meta + implementation, v.emitted["files"]["kernel.cpp"])
        out.put(meta + f"{name}_{v.number}_kernel.cpp", texts.wrapper(name, v.number, implementation, v.emitted, mix))
        lines = texts.object_commands(name, v.number, v.emitted, {"arch": _ARCHS.get(v.emitted["arch"], "dav-c220")}, mix)
        v.objects = [o for o, _ in lines]
        jobs += lines
    merge = ["ld.lld", "-m", "aicorelinux", "-r", *(o for o, _ in jobs), "-o", f"{name}.o"]
    key_class = kernel.options.get("tiling_key")
    key_header = ""
    if key_class is not None:
        key_header = f"{key_class.__name__}_tilingkey.h"
        out.put("binary/" + key_header, texts.tiling_key_header(name, key_class))
    out.put("binary/kernel.cpp", emitted["files"]["kernel.cpp"])
    out.put(f"binary/{name}_pypto_infer.cpp", texts.infer_source(name, emitted, params, key_header))
    root = "op_impl/ai_core/tbe/"
    described = manifests.manifest(name, [v.number for v in good], info, _tiling_bytes(params), any(v.emitted["prints"] for v in good), mix, emitted["cube"])
    place = f"{root}kernel/{soc}/{name}/{bin_name}"
    out.json(f"{root}kernel/config/{soc}/{name}.json", manifests.op_config(name, soc, bin_name, info))
    out.json(f"{root}kernel/config/{soc}/binary_info_config.json", manifests.binary_info(name, soc, bin_name, info, mix, emitted["cube"]))
    out.json(f"{root}config/{soc}/aic-{soc}-ops-info.json", manifests.ops_info(name, info))
    seal = ["xpto", "release", "--seal", ".."]
    release.commands = [line for _, line in jobs] + [merge, seal]
    shell = ["#!/bin/sh", f"# Objects of {name}: two a key, then the fat object, then its digest into the manifest. Needs the device compiler's environment.", "set -e"]
    out.put(meta + "build.sh", "\n".join([*shell, *(_shell_line(c) for c in release.commands), ""]))
    out.json(meta + f"{name}.json", described)
    out.json(place + ".json", described)
    release.missing = _missing()
    if not release.missing:
        _build(folder / "kernel_meta", jobs, merge)
        seal_folder(folder)
        release.commands = []
        out.files += [meta + o for o, _ in jobs] + [meta + f"{name}.o", place + ".o"]
    release.files = sorted(out.files)
    return release


def _shell_line(command: list[str]) -> str:
    """Quoted, but variables of the toolkit's environment stay open."""
    return " ".join(f'"{a}"' if "$" in a else shlex.quote(a) for a in command)


def _missing() -> list[str]:
    from xpto import toolchain
    found = [x for x in (toolchain.toolkit_missing(), toolchain.device_compiler_missing()) if x]
    if not found and shutil.which("ld.lld") is None:
        found.append("the device linker (ld.lld of the toolkit) is not on PATH")
    return found


def _build(folder: Path, jobs: list[tuple[str, list[str]]], merge: list[str]) -> None:
    """Objects in parallel, then the fat object. PtoError with the compiler's first words."""
    from xpto import toolchain
    compiler = toolchain.device_compiler() or "bisheng"

    def one(line: list[str]) -> str:
        filled = [os.path.expandvars(a) for a in line]
        try:
            done = subprocess.run([compiler if filled[0] == "bisheng" else filled[0], *filled[1:]], cwd=folder, capture_output=True, text=True, errors="replace",
                                  timeout=COMPILE_SECONDS, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return f"{line[-1]}: not done within {COMPILE_SECONDS} s"
        except OSError as e:
            return f"{line[0]}: {e}"
        return "" if done.returncode == 0 else f"{line[-1]}: " + "\n".join((done.stdout + done.stderr).strip().splitlines()[:8])

    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        failed = [f for f in pool.map(one, (line for _, line in jobs)) if f]
    if failed or (failed := [f for f in [one(merge)] if f]):
        raise PtoError("the device compiler refuses the generated C++:\n" + "\n".join(failed[:4]))


def seal_folder(folder: Path) -> list[str]:
    """Brings fat objects from kernel_meta to where the operator library looks, and their digests into the manifests; the manifests' names."""
    done = []
    for path in sorted(folder.glob("op_impl/ai_core/tbe/kernel/*/*/*.json")):
        if path.parent.parent.name == "config":
            continue
        described = json.loads(path.read_text(encoding="utf-8"))
        fat = folder / "kernel_meta" / f"{described['kernelName']}.o"
        if not fat.is_file():
            raise PtoError(f"{fat} is not there; run build.sh in {fat.parent} where the device compiler is")
        data = fat.read_bytes()
        described["sha256"] = hashlib.sha256(data).hexdigest()
        path.with_suffix(".o").write_bytes(data)
        for target in (path, folder / "kernel_meta" / f"{described['kernelName']}.json"):
            target.write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
        done.append(str(path))
    if not done:
        raise PtoError(f"{folder} holds no release: there is no op_impl/ai_core/tbe/kernel/<soc>/<op>/*.json")
    return done
