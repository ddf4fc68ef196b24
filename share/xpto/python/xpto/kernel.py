"""The object that @pl.jit makes: compiled when first needed, launched with kernel[stream, block_dim](...)."""
from __future__ import annotations

import inspect
import warnings
from typing import Any, Callable, Mapping

from xpto import _engine, arguments, config, datatypes, device_stream, places, sources, tiling_keys
from xpto.errors import CompileError, HazardError, InternalError, LaunchError, LaunchTypeError, LaunchWarning
from xpto.results import Compilation, Run

# kernels in the order they were made, for the cell that is being run
created: list["OperatorKernel"] = []


def is_tile_kernel(function: Callable) -> bool:
    """True when a parameter is a tensor, a pointer or a language scalar; anything else @pl.jit hands through."""
    for annotation in getattr(function, "__annotations__", {}).values():
        text = annotation if isinstance(annotation, str) else repr(annotation)
        if any(mark in text for mark in ("Tensor", "Ptr", "DT_")):
            return True
    return False


class OperatorKernel:
    """An operator kernel. Calling it runs it on the chosen device and writes its output arguments in place."""

    _make = staticmethod(_engine.compile)  # the suites put a maker of their own here

    def __init__(self, function: Callable, options: Mapping[str, Any]) -> None:
        self.__xpto_function__ = function
        self.__name__ = options.get("name") or function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self.__module__ = function.__module__
        self.options = dict(options)
        self.overrides: dict[str, Any] = {}   # set by %%pto_kernel: they beat the decorator
        if self.options.get("tiling_key") is not None:
            tiling_keys.check_names(function, self.options["tiling_key"])
        if self.options.get("datatype") is not None:
            datatypes.check_schema(function, self.options["datatype"], self.options.get("tiling_key"))
        self._compiled: dict[Any, Compilation] = {}
        self.last: Compilation | None = None
        self.last_run: Run | None = None
        created.append(self)

    def __repr__(self) -> str:
        return f"<operator kernel {self.__name__}>"

    # ------------------------------------------------------------------ compiling

    def compile(self, *, tiling_key: Mapping[str, int] | None = None, datatype: Mapping[str, Any] | None = None,
                static_shapes: list[list[int]] | None = None, **overrides: Any) -> Compilation:
        """Compiles one variant (or returns it when nothing it depends on has changed)."""
        chosen = {**config.compile_options(), **self.overrides, **{k: v for k, v in overrides.items() if v is not None}}
        if unknown := sorted(set(chosen) - {"preload", "target", "check"}):
            raise TypeError(f"{self.__name__}: {unknown[0]!r} cannot be overridden; preload, target and check can")
        types = {k: getattr(v, "name", str(v)) for k, v in (datatype or {}).items()}
        key = repr((sorted((tiling_key or {}).items()), sorted(types.items()), static_shapes, sorted(chosen.items(), key=str),
                    config.chip_stamp(chosen.get("target") or self.options.get("arch"))))
        known = self._compiled.get(key)
        if known is not None and not known.stale():
            self.last = known
            return known
        sources.register_cells()
        native = self._make(self.__xpto_function__, self.options,
                            {**chosen, "tiling_key": dict(tiling_key or {}), "datatype": types, "static_shapes": static_shapes or []})
        made = Compilation(self, native, previous=known or self.last)
        self._compiled[key] = made
        self.last = made
        return made

    def variants(self) -> list[dict[str, int]]:
        """Every legal tiling key, in the order of the fields' values; one empty key for kernels without tiling keys."""
        key_class = self.options.get("tiling_key")
        return [{}] if key_class is None else tiling_keys.split(key_class)[0]

    def _checked_key(self, key: Mapping[str, int] | None) -> dict[str, int]:
        key_class = self.options.get("tiling_key")
        if key_class is None:
            if key:
                raise LaunchError(f"{self.__name__}: a tiling key {dict(key)} is given, but the kernel has no tiling_key=; leave it out")
            return {}
        return tiling_keys.checked(self.__name__, key_class, key)

    # ------------------------------------------------------------------ launching

    def __getitem__(self, launch: Any) -> Callable[..., Any]:
        items = launch if isinstance(launch, tuple) else (None, launch)
        if not 2 <= len(items) <= 4:
            raise LaunchTypeError(f"{self.__name__}[...]: write [block_dim], [stream, block_dim], [stream, block_dim, key] or "
                                  "[stream, block_dim, key, dtypes]")
        stream, block_dim, *rest = items
        if isinstance(block_dim, bool) or not isinstance(block_dim, int):
            raise LaunchTypeError(f"{self.__name__}[...]: block_dim must be an int, got {type(block_dim).__name__}")
        if block_dim <= 0:
            raise LaunchError(f"{self.__name__}[...]: block_dim must be positive, got {block_dim}")
        key = dtypes = None
        if rest:
            if self.options.get("tiling_key") is not None:
                key, dtypes = rest[0], rest[1] if len(rest) > 1 else None
                self._checked_key(key)  # a wrong key is told where it is written, before any argument
            elif len(rest) > 1:
                raise LaunchTypeError(f"{self.__name__}[...]: the kernel has no tiling_key=; write {self.__name__}[stream, block_dim, dtypes]")
            else:
                dtypes = rest[0]

        def call(*args: Any, **kwargs: Any) -> None:
            if isinstance(stream, device_stream.Stream):  # of another kind (None, torch's): the session's device, done when it returns
                stream.launch(self, args, kwargs, block_dim=block_dim, tiling_key=key, datatype=dtypes)
            else:
                self.launch(args, kwargs, block_dim=block_dim, tiling_key=key, datatype=dtypes)

        return call

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        if self.options.get("tiling_key") is not None or self.options.get("datatype"):
            raise LaunchError(f"{self.__name__} has variants; launch it as {self.__name__}[stream, block_dim, key](...)")
        self.launch(args, kwargs)

    def launch(self, args: tuple, kwargs: Mapping[str, Any], *, block_dim: int = 1, tiling_key: Mapping[str, int] | None = None,
               datatype: Mapping[str, Any] | None = None, **options: Any) -> Run:
        """One run with everything said by keyword: order, seed, hostile, check, device. Returns what happened."""
        device = places.check(str(options.pop("device", None) or config.values["device"]))
        key = self._checked_key(tiling_key)
        static = self._static_shapes(args, kwargs)
        compiled = self.compile(tiling_key=key, datatype=self._datatypes(datatype), static_shapes=static)
        if not compiled.ok:
            raise compiled.error()
        params = compiled.native.params()
        values = arguments.bind(self.__name__, params, args, kwargs, self._defaults())
        converted = arguments.convert(self.__name__, params, values)
        if device != "sim":
            self.last_run = places.launch(device, self, compiled, values, converted, block_dim, options)
            return self.last_run
        options.pop("wait", None)  # the simulator is done when it returns
        run = Run(self, compiled, compiled.native.launch(converted, block_dim, {**config.launch_options(), **options}),
                  {p["name"]: v for p, v in zip(params, values)})
        self.last_run = run
        if run.status == "internal":
            raise InternalError(run.verdict)
        if run.refused:
            raise HazardError(run.text(), report=run)
        for message in run.native.launch_warnings:
            warnings.warn(f"{self.__name__}: {message}", LaunchWarning, stacklevel=3)
        return run

    def _datatypes(self, given: Mapping[str, Any] | None) -> dict[str, Any] | None:
        return datatypes.of_launch(self.__name__, self.options.get("datatype"), given)

    def _defaults(self) -> dict[str, Any]:
        parameters = inspect.signature(self.__xpto_function__).parameters.values()
        return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}

    def _static_shapes(self, args: tuple, kwargs: Mapping[str, Any]) -> list[list[int]] | None:
        """Sizes that the signature bakes into the variant (pl.STATIC or `...`): a list per tensor parameter; other axes are 0, so that
        only what is baked makes a new variant. None when nothing is."""
        function = self.__xpto_function__
        annotations = function.__annotations__

        def baked(a: Any, rank: int) -> list[bool]:
            if isinstance(a, str):  # postponed annotations
                if "STATIC" not in a and "..." not in a:
                    return [False] * rank
                try:
                    a = eval(a, function.__globals__, inspect.getclosurevars(function).nonlocals)
                except Exception:  # names of a datatype or key: the text says whether any axis is baked, not which
                    return [True] * rank
            item = getattr(a, "item", None)
            dims = list(item[0]) if isinstance(item, tuple) and item and isinstance(item[0], (list, tuple)) else []
            flags = [getattr(d, "path", "") == "pl.STATIC" for d in dims if d is not ...]
            return (flags + [... in dims] * rank)[:rank]

        names = list(inspect.signature(self.__xpto_function__).parameters)
        values = {**dict(zip(names, args)), **kwargs}
        shapes, any_baked = [], False
        for name in names:
            annotation = annotations.get(name)
            if "Tensor" not in (annotation if isinstance(annotation, str) else repr(annotation)):
                continue
            shape = [int(n) for n in (getattr(values.get(name), "shape", ()) or ())]
            flags = baked(annotation, len(shape))
            any_baked = any_baked or any(flags)
            shapes.append([n if flag else 0 for n, flag in zip(shape, flags)])
        return shapes if any_baked else None

    @property
    def _compiled_by_signature(self) -> dict[Any, Compilation]:
        """The compiled variants, under the names that tests of the language look at."""
        return self._compiled

    _kernel_def_by_static_signature = _compiled_by_signature


def compile(kernel: OperatorKernel, **overrides: Any) -> Compilation:
    """Compiles a kernel and returns the result; `preload=`, `target=`, `check=` override the decorator."""
    if not isinstance(kernel, OperatorKernel):
        raise TypeError(f"expected an operator kernel (a function decorated with @pl.jit), got {type(kernel).__name__}")
    return kernel.compile(**overrides)


def run(kernel: OperatorKernel, *args: Any, block_dim: int = 1, **options: Any) -> Run:
    """Runs a kernel once and returns the run: values are in the output arguments, hazards and timeline in the result."""
    names = {p for p in inspect.signature(kernel.__xpto_function__).parameters}
    kwargs = {k: options.pop(k) for k in list(options) if k in names}
    return kernel.launch(args, kwargs, block_dim=block_dim, **options)
