"""A launch's arguments as a worker takes them: memory as blobs, every value of the entry's parameters as one word."""
from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

_FORMATS = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "index": "q", "uint8": "B", "uint16": "H", "uint32": "I",
            "uint64": "Q", "fp32": "f", "fp64": "d"}


@dataclass
class Values:
    words: list[str] = field(default_factory=list)
    blobs: list[Any] = field(default_factory=list)
    written: list[bool] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)   # of the user's memory; 0 for memory of ours
    sizes: list[int] = field(default_factory=list)
    owners: list[Any] = field(default_factory=list)      # keep the user's memory alive

    def head(self) -> dict[str, str]:
        return {"arguments": " ".join(self.words), "written": "".join("1" if w else "0" for w in self.written)}

    def write_back(self, which: Sequence[int], blobs: Sequence[bytes]) -> None:
        """Results into the user's memory. The only place that changes it."""
        for index, data in zip(which, blobs):
            if self.addresses[index] and len(data) == self.sizes[index]:
                ctypes.memmove(self.addresses[index], data, len(data))


def packed_tiling(fields: Sequence[Mapping[str, Any]], values: Sequence[Sequence[Any]]) -> bytes:
    """A tiling struct with C's natural alignment."""
    out, widest = bytearray(), 1
    for f, items in zip(fields, values):
        code = _FORMATS[f["dtype"]]
        size = struct.calcsize("=" + code)
        widest = max(widest, size)
        out += bytes(-len(out) % size)
        for item in items:
            out += struct.pack("<" + code, float(item) if code in "fd" else bool(item) if code == "?" else int(item))
    return bytes(out + bytes(-len(out) % widest))


def _word(dtype: str, value: Mapping[str, Any]) -> str:
    code = _FORMATS[dtype]
    if code in "fd":
        return "v:" + struct.pack("<" + code, value["real"]).hex()
    size = struct.calcsize("=" + code)
    return "v:" + (int(value["integer"]) & ((1 << 8 * size) - 1)).to_bytes(size, "little").hex()


def pack(params: Sequence[Mapping[str, Any]], converted: Sequence[Mapping[str, Any]], entry: Sequence[tuple[str, str, str]]) -> Values:
    """Values in the order of the entry's parameters (name, C++ type, kind): the source's own, then dynamic sizes.

    Arguments over the same memory, also partly, become one blob: they are one memory for the kernel too.
    """
    out = Values()
    ranges = sorted({(c["address"], c["address"] + c["bytes"]) for c in converted if c["kind"] in ("tensor", "pointer") and c["address"]})
    regions: list[list[int]] = []
    for begin, end in ranges:
        if regions and begin < regions[-1][1]:
            regions[-1][1] = max(regions[-1][1], end)
        else:
            regions.append([begin, end])
    for begin, end in regions:
        size = end - begin
        out.blobs.append((ctypes.c_char * size).from_address(begin) if size else b"")
        out.written.append(False)
        out.addresses.append(begin)
        out.sizes.append(size)
    dims: list[int] = []
    for p, c in zip(params, converted):
        if c["kind"] in ("tensor", "pointer"):
            out.owners.append(c["owner"])
            if not c["address"]:
                out.words.append("n")
            else:
                at = next(i for i, (b, e) in enumerate(regions) if b <= c["address"] and (c["address"] < e or b == e))
                out.words.append(f"p:{at}:{c['address'] - regions[at][0]}")
                out.written[at] = out.written[at] or bool(p.get("written"))
            dims += [size for size, d in zip(c["shape"], p.get("dims", ())) if d["dynamic"]]
        elif c["kind"] == "tiling":
            out.words.append(f"p:{len(out.blobs)}:0")
            out.blobs.append(packed_tiling(p["fields"], c["fields"]))
            out.written.append(False)
            out.addresses.append(0)
            out.sizes.append(len(out.blobs[-1]))
        else:
            out.words.append(_word(p["dtype"], c))
    out.words += ["v:" + struct.pack("<i", n).hex() for n in dims]
    out.words += ["n"] * (len(entry) - len(out.words))  # the address of the cross-core flags, where a chip has them in memory
    return out
