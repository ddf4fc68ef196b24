"""JSON of a release: the kernel's manifest, the operator's configuration, the soc's operator list. Source: codegen 6.7."""
from __future__ import annotations

import hashlib
import json
from typing import Any, Mapping, Sequence

# the operator library's names and numbers of element types
DTYPES = {"fp32": ("float32", 0), "fp16": ("float16", 1), "int8": ("int8", 2), "int32": ("int32", 3), "uint8": ("uint8", 4), "int16": ("int16", 6),
          "uint16": ("uint16", 7), "uint32": ("uint32", 8), "int64": ("int64", 9), "uint64": ("uint64", 10), "bool": ("bool", 12), "bf16": ("bfloat16", 27),
          "fp8e5m2": ("float8_e5m2", 29), "fp8e4m3": ("float8_e4m3fn", 30)}
FORMATS = {"ND": 2, "NZ": 29, "DN": 2}
PRINT_BYTES = 78643200


def op_type(kernel: str) -> str:
    """relu_matmul -> ReluMatmul: the operator library's name of the operator."""
    return "".join(part[:1].upper() + part[1:] for part in kernel.split("_") if part) or kernel


def _tensor(p: Mapping[str, Any], index: int) -> dict[str, Any]:
    name, _ = DTYPES.get(p["dtype"], (p["dtype"], -1))
    return {"name": p["name"], "index": index, "dtype": name, "format": "FRACTAL_NZ" if p["layout"] == "NZ" else "ND", "paramType": "required", "shape": [-2],
            "format_match_mode": "FormatAgnostic"}


def support_info(kernel: str, params: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    tensors = [p for p in params if p["kind"] == "tensor"]
    inputs = [_tensor(p, i) for i, p in enumerate(q for q in tensors if not q["written"])]
    outputs = [_tensor(p, i) for i, p in enumerate(q for q in tensors if q["written"])]
    ordered = [p for p in tensors if not p["written"]] + [p for p in tensors if p["written"]]
    simplified = f"{op_type(kernel)}/d=0,p=0/" + "/".join(f"{DTYPES.get(p['dtype'], ('', -1))[1]},{FORMATS.get(p['layout'], 2)}" for p in ordered)
    info: dict[str, Any] = {"implMode": "high_performance", "int64Mode": False, "simplifiedKeyMode": 0, "simplifiedKey": [simplified], "optionalInputMode": "gen_placeholder",
                            "inputs": inputs, "outputs": outputs, "attrs": [_attribute(p) for p in params if p["kind"] == "scalar"], "opMode": "dynamic", "deterministic": "ignore"}
    info["staticKey"] = hashlib.sha256(json.dumps(info, sort_keys=True).encode()).hexdigest()
    return info


def _attribute(p: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": p["name"], "dtype": "float" if p["dtype"] == "fp32" else "bool" if p["dtype"] == "bool" else "int", "value": None}


def bin_name(kernel: str, info: Mapping[str, Any]) -> str:
    return f"{op_type(kernel)}_{hashlib.md5(json.dumps(info, sort_keys=True).encode()).hexdigest()}"  # a name, not a secret


def manifest(kernel: str, numbers: Sequence[int], info: Mapping[str, Any], tiling_bytes: int, prints: bool, mix: bool, cube: bool) -> dict[str, Any]:
    """Everything but the digest of the object, which does not exist before its compilation."""
    name = bin_name(kernel, info)
    kind, ratio = ("MIX_AIC", "1:2") if mix else ("AIC", "1:0") if cube else ("AIV", "0:1")
    out: dict[str, Any] = {
        "binFileName": name, "binFileSuffix": ".o", "blockDim": -1, "coreType": "MIX" if mix else "AiCore" if cube else "VectorCore", "intercoreSync": 1 if mix else 0,
        "magic": "RT_DEV_BINARY_MAGIC_ELF", "kernelName": kernel, "memoryStamping": [], "parameters": [], "opParaSize": tiling_bytes,
        "kernelList": [{"tilingKey": n, "kernelType": kind, "taskRation": ratio, "crossCoreSync": 1 if mix else 0, "kernelName": f"{name}_{n}", "deterministic": "ignore"}
                       for n in numbers],
        "taskRation": "tilingKey", "workspace": {"num": 1, "size": [-1], "type": [0]}, "optionalInputMode": "gen_placeholder", "compileInfo": {}, "sha256": "",
        "supportInfo": info}
    if prints:
        out["debugOptions"], out["debugBufSize"] = "printf", PRINT_BYTES
    return out


def binary_info(kernel: str, soc: str, name: str, info: Mapping[str, Any], mix: bool, cube: bool) -> dict[str, Any]:
    place = f"{soc}/{kernel}/{name}"
    core = "MIX" if mix else "AiCore" if cube else "VectorCore"
    return {op_type(kernel): {"dynamicRankSupport": True, "simplifiedKeyMode": 0,
                              "binaryList": [{"coreType": core, "simplifiedKey": info["simplifiedKey"], "binPath": place + ".o", "jsonPath": place + ".json"}]}}


def op_config(kernel: str, soc: str, name: str, info: Mapping[str, Any]) -> dict[str, Any]:
    return {"binList": [{**info, "binInfo": {"jsonFilePath": f"{soc}/{kernel}/{name}.json"}}]}


def ops_info(kernel: str, info: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    for kind in ("inputs", "outputs"):
        for i, t in enumerate(info[kind]):
            entry[f"{kind[:-1]}{i}"] = {"name": t["name"], "dtype": t["dtype"], "format": t["format"], "paramType": t["paramType"], "shape": "all"}
    entry |= {"opFile": {"value": kernel}, "opInterface": {"value": kernel}, "dynamicShapeSupport": {"flag": "true"}, "dynamicRankSupport": {"flag": "true"},
              "dynamicFormat": {"flag": "false"}, "coreType": {"value": "AiCore"}}
    return {op_type(kernel): entry}
