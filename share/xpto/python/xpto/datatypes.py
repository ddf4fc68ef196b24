"""Datatype specialisation: the schema of @pl.jit(datatype={parameter: variable}) and the mapping of one launch. Source: language 7.3."""
from __future__ import annotations

import inspect
import keyword
from typing import Any, Callable, Mapping

from xpto import tiling_keys
from xpto.errors import CompileError, LaunchError, LaunchTypeError


def check_schema(function: Callable, schema: Any, key_class: type | None) -> None:
    """CompileError unless every parameter exists and every variable is a name of its own."""
    def wrong(text: str) -> CompileError:
        return CompileError(f"@pl.jit(datatype=...) of {function.__name__}: {text}")

    if not isinstance(schema, dict) or not schema:
        raise wrong(f"expected a dict from parameter to variable, as {{'x': 'T'}}, got {schema!r}")
    parameters = list(inspect.signature(function).parameters)
    keys = {f.name for f in tiling_keys.fields_of(key_class)} if key_class else set()
    for parameter, variable in schema.items():
        if parameter not in parameters:
            raise wrong(f"there is no parameter {parameter!r}; the kernel has {', '.join(parameters)}")
        if not isinstance(variable, str) or not variable.isidentifier() or keyword.iskeyword(variable):
            raise wrong(f"{parameter!r} names {variable!r}, which cannot be a variable; write a name, as 'T'")
        if variable in parameters:
            raise wrong(f"the variable {variable!r} is a parameter too; give it another name")
        if variable in keys:
            raise wrong(f"the variable {variable!r} is a field of {key_class.__name__} too; give it another name")


def of_launch(name: str, schema: Mapping[str, str] | None, given: Any) -> dict[str, Any] | None:
    """What a launch gives, by variable; None for a kernel without a schema."""
    if not schema:
        if given is not None:
            raise LaunchError(f"{name}: dtypes {given!r} are given, but the kernel has no datatype=; leave them out")
        return None
    example = ", ".join(f"{p!r}: pl.DT_FP16" for p in schema)
    if not isinstance(given, dict) or set(given) != set(schema):
        got = sorted(map(str, given)) if isinstance(given, dict) else given
        raise LaunchError(f"{name}: the dtype mapping must name exactly {', '.join(schema)}, got {got}; write {{{example}}}")
    by_variable: dict[str, Any] = {}
    for parameter, variable in schema.items():
        dtype = given[parameter]
        if type(dtype).__name__ not in ("DType", "DataType"):
            raise LaunchTypeError(f"{name}: the dtype of {parameter} is {dtype!r}; write a type of the language, as pl.DT_FP16")
        if by_variable.setdefault(variable, dtype) != dtype:
            raise LaunchError(f"{name}: parameters of dtype {variable} must agree, got {by_variable[variable]} and {dtype}")
    return by_variable
