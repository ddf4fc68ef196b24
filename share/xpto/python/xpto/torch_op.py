"""Operator kernels as torch operators: a schema, an implementation that launches the kernel on the chosen device, and a meta function, so
that graph capture (torch.compile, fx, fake tensors) sees shapes and types without running anything."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence

from xpto.errors import LaunchError, LaunchTypeError

_TORCH_DTYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8",
                 "bool": "bool", "fp8e4m3": "float8_e4m3fn", "fp8e5m2": "float8_e5m2"}
_libraries: dict[str, Any] = {}
_registered: dict[str, "_Operator"] = {}


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise LaunchError("torch is not installed for this Python: register_op needs it, launches with numpy arrays do not") from None
    return torch


@dataclass
class _Operator:
    """What a registered name runs now: registering again with the same schema replaces it, as redefining a function does."""
    name: str
    schema: str
    kernel: Any
    inputs: list[Mapping[str, Any]]
    outputs: list[Mapping[str, Any]]
    params: list[Mapping[str, Any]]
    shapes: Mapping[str, Any]
    meta: Callable[..., Any] | None
    fixed: Mapping[str, Any]
    launch: Mapping[str, Any] = field(default_factory=dict)

    def like(self, values: Mapping[str, Any]) -> list[Any]:
        """Empty outputs for given inputs: of the declared type, on the inputs' device."""
        torch = _torch()
        if self.meta is not None:
            made = self.meta(**values)
            return list(made) if isinstance(made, (tuple, list)) else [made]
        tensors = [v for v in values.values() if isinstance(v, torch.Tensor)]
        device = tensors[0].device if tensors else "cpu"
        return [torch.empty(self._shape(p, values), dtype=getattr(torch, _TORCH_DTYPES[p["dtype"]]), device=device) for p in self.outputs]

    def _shape(self, p: Mapping[str, Any], values: Mapping[str, Any]) -> list[Any]:
        rule = self.shapes.get(p["name"])
        if isinstance(rule, str):
            return list(values[rule].shape)
        if callable(rule):
            return list(rule(**values))
        if rule is not None:
            return list(rule)
        return [d["size"] for d in p["dims"]]

    def _named(self, args: Sequence[Any]) -> dict[str, Any]:
        return {p["name"]: a for p, a in zip(self.inputs, args)}

    def compute(self, *args: Any) -> Any:
        given = self._named(args)
        tensors = {n: v.detach().contiguous() if hasattr(v, "data_ptr") else v for n, v in given.items()}
        for p in self.inputs:  # a tensor that is changed in place must be that tensor
            if p.get("written") and not given[p["name"]].is_contiguous():
                raise LaunchError(f"{self.name}({p['name']}): changed in place, so it must be contiguous; pass x.contiguous()")
        outputs = self.like(given)
        values = {**self.fixed, **tensors, **{p["name"]: o for p, o in zip(self.outputs, outputs)}}
        self.kernel.launch(tuple(values[p["name"]] for p in self.params), {}, **self.launch)
        return _returned(outputs)

    def abstract(self, *args: Any) -> Any:
        return _returned(self.like(self._named(args)))


def _returned(outputs: list[Any]) -> Any:
    return None if not outputs else outputs[0] if len(outputs) == 1 else tuple(outputs)


def _schema(name: str, inputs: Sequence[Mapping[str, Any]], outputs: Sequence[Mapping[str, Any]]) -> str:
    arguments, changed = [], 0
    for p in inputs:
        if p["kind"] in ("tensor", "pointer"):
            arguments.append(f"Tensor({chr(ord('a') + changed)}!) {p['name']}" if p.get("written") else f"Tensor {p['name']}")
            changed += bool(p.get("written"))
        else:
            arguments.append(("float " if p["dtype"].startswith("fp") else "bool " if p["dtype"] == "bool" else "int ") + p["name"])
    returned = "()" if not outputs else "Tensor" if len(outputs) == 1 else f"({', '.join(['Tensor'] * len(outputs))})"
    return f"{name}({', '.join(arguments)}) -> {returned}"


def register_op(kernel: Any, name: str = "", *, mutates: Sequence[str] = (), shapes: Mapping[str, Any] | None = None, meta: Callable[..., Any] | None = None,
                fixed: Mapping[str, Any] | None = None, block_dim: int = 1, device: str | None = None, tiling_key: Mapping[str, int] | None = None,
                datatype: Mapping[str, Any] | None = None) -> Any:
    """Registers a kernel as torch.ops.<namespace>.<name> and returns that operator.

    name      "namespace::name"; default "xpto::" and the kernel's name
    mutates   written parameters that are arguments, changed in place; other written parameters are returned
    shapes    of returned tensors whose sizes the declaration leaves open: the name of an input, a list, or a function of the inputs by name
    meta      instead of `shapes`: a function of the inputs by name that returns empty tensors
    fixed     values of parameters that are not arguments of the operator: tiling data
    device    sim, host or npu:N; default: the session's at the time of the call (%pto_device)
    """
    from xpto.kernel import OperatorKernel
    if not isinstance(kernel, OperatorKernel):
        raise LaunchTypeError(f"expected an operator kernel (a function decorated with @pl.jit), got {type(kernel).__name__}")
    torch = _torch()
    full = name or f"xpto::{kernel.__name__}"
    namespace, sign, short = full.partition("::")
    if not sign or not namespace.isidentifier() or not short.isidentifier():
        raise LaunchError(f"register_op: a name reads namespace::name, not {full!r}")
    compiled = kernel.compile(tiling_key=kernel._checked_key(tiling_key), datatype=kernel._datatypes(datatype))
    if not compiled.ok:
        raise compiled.error()
    params, fixed, shapes = compiled.native.params(), dict(fixed or {}), dict(shapes or {})
    names = {p["name"] for p in params}
    for what, given in (("mutates", mutates), ("shapes", shapes), ("fixed", fixed)):
        if unknown := [n for n in given if n not in names]:
            raise LaunchError(f"register_op: {what} names {unknown[0]}, which is no parameter of {kernel.__name__}")
    outputs = [p for p in params if p.get("written") and p["name"] not in mutates and p["name"] not in fixed]
    inputs = [p for p in params if p not in outputs and p["name"] not in fixed]
    if tiling := [p["name"] for p in inputs if p["kind"] == "tiling"]:
        raise LaunchError(f"register_op: torch has no type for tiling data: pass fixed={{{tiling[0]!r}: ...}}")
    if outputs and "atomic=AtomicAdd" in compiled.native.ir():
        raise LaunchError(f"register_op: {kernel.__name__} adds to what {outputs[0]['name']} holds: name it in mutates=, a fresh output holds nothing")
    for p in outputs:
        if p["name"] not in shapes and meta is None and (p["kind"] == "pointer" or any(d["dynamic"] or d["static"] for d in p["dims"])):
            first = next((i["name"] for i in inputs if i["kind"] == "tensor"), "x")
            raise LaunchError(f"register_op: the declaration leaves the shape of {p['name']} open: pass shapes={{{p['name']!r}: {first!r}}} (as that input), "
                              "a function of the inputs, or meta=")
        if _TORCH_DTYPES.get(p["dtype"]) is None or not hasattr(torch, _TORCH_DTYPES[p["dtype"]]):
            raise LaunchError(f"register_op: this torch has no type for {p['name']} ({p['dtype']})")
    schema = _schema(short, inputs, outputs)
    launch: dict[str, Any] = {"block_dim": block_dim, "tiling_key": tiling_key, "datatype": datatype, **({"device": device} if device else {})}
    made = _Operator(full, schema, kernel, inputs, outputs, params, shapes, meta, fixed, launch)
    known = _registered.get(full)
    if known is not None and known.schema != schema:
        raise LaunchError(f"register_op: {full} is registered as {known.schema}, which torch cannot change to {schema}; choose another name or restart the session")
    if known is None:
        _define(torch, namespace, schema, full, short)
    _registered[full] = made
    return getattr(getattr(torch.ops, namespace), short)


def _define(torch: Any, namespace: str, schema: str, full: str, short: str) -> None:
    library = _libraries.get(namespace)
    if library is None:
        try:  # FRAGMENT lets others define operators in the namespace too; older torch has only DEF
            library = torch.library.Library(namespace, "FRAGMENT")
        except (RuntimeError, ValueError, AssertionError):
            library = torch.library.Library(namespace, "DEF")
        _libraries[namespace] = library
    tag = getattr(getattr(torch, "Tag", None), "pt2_compliant_tag", None)
    try:
        library.define(schema, **({"tags": (tag,)} if tag is not None else {}))
    except TypeError:
        library.define(schema)
    # looked up at the call: registering the name again replaces the kernel behind it
    library.impl(short, lambda *args: _registered[full].compute(*args), "CPU")
    abstract = lambda *args: _registered[full].abstract(*args)
    library.impl(short, abstract, "Meta")
    if not hasattr(torch, "compile"):  # torch 1 falls through to the operator for tensors on the CPU, not for those on meta
        library.impl(short, abstract, "AutogradMeta")
