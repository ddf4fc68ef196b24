"""The language of hw-native-sys/pypto, recognised by its words: whoever pastes one of its files is told once, in one sentence."""
from __future__ import annotations

import ast
import sys

from xpto.errors import OtherDialectImport, OtherDialectName

MODULE = "pypto.language"
# names under `pl` that only the other language has
WORDS = frozenset({"at", "Out", "InOut", "In", "Level", "parallel", "incore", "spmd", "cluster", "unroll", "FunctionType", "auto_incore", "auto_chunk", "auto_scope",
                   "slice", "assemble", "create_tensor", "FP32", "FP16", "BF16", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "BOOL"})
ADVICE = ("this kernel understands PyPTO Pro: import pypto_pro.language as pl, tiles by pl.make_tile_group, outputs as plain pl.Tensor parameters, "
          "stages by @pl.pipeline.stage")


def sentence(what: str) -> str:
    return f"`{what}` belongs to the language of hw-native-sys/pypto, a different project; {ADVICE}"


def missing_name(name: str) -> OtherDialectName:
    """What reading pl.<name> raises; it names the line that reads it."""
    frame = sys._getframe(2)
    return OtherDialectName(f"line {frame.f_lineno}: {sentence('pl.' + name)}")


def missing_module(name: str) -> OtherDialectImport:
    return OtherDialectImport(sentence(f"import {name}"))


def found_in(tree: ast.AST) -> tuple[int, int, str] | None:
    """(line, column from 1, what was written) of the first word of the other language in a parsed file; None when there is none."""
    aliases: set[str] = set()
    hits: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for a in node.names:
                if a.name == MODULE or a.name.startswith(MODULE + "."):
                    hits.append((node.lineno, node.col_offset, f"import {a.name}"))
                if a.name in (MODULE, "pypto_pro.language") and a.asname:
                    aliases.add(a.asname)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == MODULE or node.module == "pypto" and any(a.name == "language" for a in node.names):
                hits.append((node.lineno, node.col_offset, f"from {node.module} import {node.names[0].name}"))
            if node.module in ("pypto_pro", "pypto"):
                aliases |= {a.asname or a.name for a in node.names if a.name == "language"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases and node.attr in WORDS:
            hits.append((node.lineno, node.col_offset, f"{node.value.id}.{node.attr}"))
    if not hits:
        return None
    line, offset, what = min(hits)
    return line, offset + 1, what
