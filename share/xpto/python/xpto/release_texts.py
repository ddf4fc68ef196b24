"""C++ of a release: the header of tiling keys, the source that infers kernel type and keys, and the wrapper of one key. Source: codegen 6.4, 6.6."""
from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from xpto import tiling_keys

# kernel type and its sections as the runtime reads them from an object: tag, length, value
_SECTIONS = '''struct XptoTag { unsigned short tag, length; unsigned int value; };
struct XptoRatio { unsigned short tag, length; unsigned short cube, vector; };
'''
_KERNEL_TYPE_TAG, _RATIO_TAG, _MIX_AIC = 1, 3, 4


def tiling_key_header(kernel: str, key_class: type) -> str:
    """<Key>_tilingkey.h: what host tiling code needs for GET_TPL_TILING_KEY, numbered as the objects are."""
    fields = tiling_keys.fields_of(key_class)
    legal, _ = tiling_keys.split(key_class)
    out = ["#pragma once", '#include "ascendc/host_api/tiling/template_argument.h"', ""]
    out += [f"#define ASCENDC_TPL_{b}_BW {b}" for b in sorted({f.bits for f in fields})]
    declared = [f"    ASCENDC_TPL_UINT_DECL({f.name}, ASCENDC_TPL_{f.bits}_BW, ASCENDC_TPL_UI_LIST, {', '.join(map(str, f.values))})" for f in fields]
    out += ["", f"ASCENDC_TPL_ARGS_DECL({kernel},", ",\n".join(declared), ");", "", "ASCENDC_TPL_SEL("]
    chosen = []
    for key in legal:
        lines = [f"        ASCENDC_TPL_UINT_SEL({n}, ASCENDC_TPL_UI_LIST, {v})" for n, v in key.items()]
        chosen.append(f"    ASCENDC_TPL_ARGS_SEL( // {tiling_keys.packed(key_class, key)}\n" + ",\n".join(lines) + ")")
    return "\n".join([*out, ",\n".join(chosen), ");", ""])


def signature(emitted: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """The translation unit's entry and its (type, name) parameters."""
    name, listed = re.findall(r"inline void (\w+)_impl\((.*?)\)\s*\{", emitted["files"]["kernel.cpp"])[-1]
    pairs = [tuple(p.strip().rsplit(" ", 1)) for p in listed.split(",") if p.strip()]
    return name, [(t, n) for t, n in pairs]


def _workspace(params: Sequence[Mapping[str, Any]]) -> str:
    """The kernel's pointer to its workspace, empty without one: the last pl.Ptr."""
    pointers = [p["name"] for p in params if p["kind"] == "pointer"]
    return f"{pointers[-1]}_0" if pointers else ""


def infer_source(kernel: str, emitted: Mapping[str, Any], params: Sequence[Mapping[str, Any]], key_header: str) -> str:
    """Preprocessed only: the operator compiler reads kernel type and keys from it."""
    name, pairs = signature(emitted)
    workspace = _workspace(params)
    body = ["    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);"]
    if workspace:
        element = next(t for t, n in pairs if n == workspace)
        body.append(f"    {workspace} = ({element})AscendC::GetUserWorkspace((GM_ADDR){workspace});")
    body.append(f"    {name}_impl({', '.join(n for _, n in pairs)});")
    head = ['#include "kernel_operator.h"'] + ([f'#include "{key_header}"'] if key_header else [])
    stubs = ["namespace cce {", "template <class... A> __aicore__ inline void printf(const char*, A...) {} // prints say nothing about a kernel's type", "}"]
    prints = stubs if emitted["prints"] else []
    listed = ", ".join(f"{t} {n}" for t, n in pairs)
    return "\n".join([*head, *prints, '#include "kernel.cpp"', "", f'extern "C" __global__ AICORE void {kernel}({listed}) {{', *body, "}", ""])


def wrapper(kernel: str, number: int, implementation: str, emitted: Mapping[str, Any], mix: bool) -> str:
    """<kernel>_<key>_kernel.cpp: the entry of one key, and the sections that say what it is."""
    name, pairs = signature(emitted)
    listed = ", ".join(f"{t} {n}" for t, n in pairs)
    section = f'__attribute__((used, section(".ascend.meta.{kernel}_{number}_mix_SIDE")))'
    meta = [_SECTIONS]
    for side, guard in (("aic", "__DAV_CUBE__"), ("aiv", "__DAV_VEC__")):
        place = section.replace("SIDE", side)
        kind = _MIX_AIC if mix else {"aic": 2, "aiv": 3}[side]
        meta.append(f"#if defined({guard})\nstatic const XptoTag {kernel}_{number}_type_{side} {place} = {{{_KERNEL_TYPE_TAG}, 4, {kind}}};")
        if mix:
            meta.append(f"static const XptoRatio {kernel}_{number}_ratio_{side} {place} = {{{_RATIO_TAG}, 4, 1, 2}};")
        meta.append("#endif")
    return "\n".join([f'#include "{implementation}"', "", *meta, "",
                      f'extern "C" __global__ AICORE void auto_gen_{kernel}_kernel({listed}) {{', f"    {name}_impl({', '.join(n for _, n in pairs)});", "}", ""])


def object_commands(kernel: str, number: int, emitted: Mapping[str, Any], chip_flags: Mapping[str, str], mix: bool) -> list[tuple[str, list[str]]]:
    """(object, arguments of the device compiler): one a core kind. The flags are the library build's, without what links one."""
    name, _ = signature(emitted)
    dropped = {"-shared", "--cce-fatobj-link", "call_kernel.cpp", "-L$ASCEND_HOME_PATH/lib64/", "-lruntime", "-lprofapi", "-o", "call_kernel.so"}
    flags = [a for a in emitted["command"][1:] if a not in dropped and not a.startswith("--cce-aicore-arch=")]
    sides = [("aic", "cube"), ("aiv", "vec")] if mix else [("aic", "cube")] if emitted["cube"] else [("aiv", "vec")]
    out = []
    for short, arch in sides:
        produced = f"{kernel}_mix_{short}_{number}.o"
        line = ["bisheng", "-c", f"--cce-aicore-arch={chip_flags['arch']}-{arch}", *flags, "-DASCENDC_TPL_KERNEL", f"-DTILING_KEY_VAR={number}UL"]
        if mix:
            line.append("-D__MIX_CORE_MACRO__=1")
        if chip_flags["arch"] == "dav-c310":
            line.append("-D__ASCENDC_ENABLE_VEC_TAIL_TILING_COPY__")
        line += [f"-Dauto_gen_{kernel}_kernel={kernel}_{number}_mix_{short}", f"-D{name}_impl={name}_impl_{number}", f"{kernel}_{number}_kernel.cpp", "-o", produced]
        out.append((produced, line))
    return out
