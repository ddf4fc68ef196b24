"""How far a correct result may lie from its reference: every rounding of a computation, carried to its end.

A `Tracked` array holds a value and two sizes of its error, both derived and neither tuned:
  noise  variance: each rounding of size u*|partial sum| as an independent error of variance (u*s)**2 / 3
  limit  worst case: K*u / (1 - K*u) times the sum of the absolute terms, carried with absolute values
It follows numpy expressions, so a reference written as a function of its inputs yields its own thresholds:

    thresholds = evaluate(lambda a, b, d: np.maximum(a @ b, 0) @ d, {"a": a, "b": b, "d": d})
"""
from __future__ import annotations

from typing import Any, Callable, Mapping

import numpy as np

# bits of the significand with the hidden one, smallest normal exponent
FORMATS = {"fp64": (53, -1022), "fp32": (24, -126), "fp16": (11, -14), "bf16": (8, -126), "fp8e4m3": (4, -6), "fp8e5m2": (3, -14)}
LARGEST = {"fp32": 3.4028234663852886e38, "fp16": 65504.0, "bf16": 3.3895313892515355e38, "fp8e4m3": 448.0, "fp8e5m2": 57344.0}
# partial sums are followed one by one up to this much work, in strides above it
_EXACT_WORK = 2e8


def unit(dtype: str) -> float:
    """u: half the distance from 1 to the next number."""
    return 2.0 ** -FORMATS[dtype][0]


def spacing(values: np.ndarray, dtype: str) -> np.ndarray:
    """Distance between neighbours of a format at these sizes."""
    bits, lowest = FORMATS[dtype]
    with np.errstate(divide="ignore"):
        exponent = np.floor(np.log2(np.abs(values), where=values != 0, out=np.full(np.shape(values), float(lowest))))
    return np.exp2(np.maximum(exponent, lowest) - bits + 1)


def gamma(terms: int, u: float) -> float:
    return terms * u / (1 - terms * u) if terms * u < 1 else np.inf


class Tracked:
    """A float64 value with the variance and the worst case of its error. `steps` says where they come from."""

    __array_priority__ = 1000

    def __init__(self, value: Any, noise: Any = None, limit: Any = None, sums: str = "fp32", steps: tuple[str, ...] = ()) -> None:
        self.value = np.asarray(value, dtype=np.float64)
        self.noise = np.zeros_like(self.value) if noise is None else np.broadcast_to(noise, self.value.shape)
        self.limit = np.zeros_like(self.value) if limit is None else np.broadcast_to(limit, self.value.shape)
        self.sums, self.steps = sums, steps
        self.u = unit(sums)

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    T = property(lambda self: self._map(lambda x: x.T))

    def _new(self, value: Any, noise: Any, limit: Any, steps: tuple[str, ...]) -> "Tracked":
        return Tracked(value, noise, limit, self.sums, steps)

    def _map(self, move: Callable[[np.ndarray], np.ndarray]) -> "Tracked":
        """The same change of places for value and errors."""
        return self._new(move(self.value), move(self.noise), move(self.limit), self.steps)

    def _other(self, x: Any) -> "Tracked":
        return x if isinstance(x, Tracked) else Tracked(_plain(x), sums=self.sums)

    def _rounded(self, value: np.ndarray, noise: Any, limit: Any, steps: tuple[str, ...], roundings: float = 1.0) -> "Tracked":
        size = self.u * np.abs(value)
        return self._new(value, noise + roundings * size ** 2 / 3, limit + roundings * size, steps)

    def _matmul(self, a: "Tracked", b: "Tracked") -> "Tracked":
        terms = a.shape[-1]
        value = a.value @ b.value
        noise = a.noise @ b.value ** 2 + a.value ** 2 @ b.noise + a.noise @ b.noise
        stride = max(1, int(np.ceil(terms * value.size / _EXACT_WORK)))
        partial = np.zeros_like(value)
        for k in range(0, terms, stride):
            stop = min(k + stride, terms)
            partial = partial + a.value[..., k:stop] @ b.value[..., k:stop, :]
            noise = noise + (stop - k) * (self.u * partial) ** 2 / 3
        left, right = np.abs(a.value), np.abs(b.value)
        limit = a.limit @ right + left @ b.limit + a.limit @ b.limit
        limit = limit + gamma(terms, self.u) * ((left + a.limit) @ (right + b.limit))
        return self._new(value, noise, limit, (*a.steps, *b.steps, f"K={terms}"))

    def sum(self, axis: Any = None, keepdims: bool = False, **_: Any) -> "Tracked":
        axis = tuple(range(self.ndim)) if axis is None else axis
        axes = (axis,) if isinstance(axis, int) else axis
        terms = int(np.prod([self.shape[i] for i in axes]))
        add = lambda x: x.sum(axis=axes, keepdims=keepdims)
        value = add(self.value)
        # the mean square of the partial sums of terms in any order is at most that of their absolute sum
        typical = np.sqrt(add(self.value ** 2)) + np.abs(value)
        noise = add(self.noise) + terms * (self.u * typical) ** 2 / 3
        return self._new(value, noise, add(self.limit) + gamma(terms, self.u) * add(np.abs(self.value) + self.limit), (*self.steps, f"sum of {terms}"))

    def mean(self, axis: Any = None, keepdims: bool = False, **_: Any) -> "Tracked":
        total = self.sum(axis, keepdims)
        return total / (self.value.size / max(total.value.size, 1))

    def _extreme(self, pick: Callable[..., np.ndarray], axis: Any, keepdims: bool, word: str) -> "Tracked":
        value = pick(self.value, axis=axis, keepdims=keepdims)
        near = np.abs(self.value - pick(self.value, axis=axis, keepdims=True)) <= self.limit
        noise = np.max(np.where(near, self.noise, 0), axis=axis, keepdims=keepdims)
        return self._new(value, noise, np.max(self.limit, axis=axis, keepdims=keepdims), (*self.steps, word))

    def max(self, axis: Any = None, keepdims: bool = False, **_: Any) -> "Tracked":
        return self._extreme(np.max, axis, keepdims, "max")

    def min(self, axis: Any = None, keepdims: bool = False, **_: Any) -> "Tracked":
        return self._extreme(np.min, axis, keepdims, "min")

    def astype(self, dtype: Any, **_: Any) -> "Tracked":
        """A cast adds half a unit of its target; a cast to a wider type nothing."""
        name = name_of(dtype)
        if name not in FORMATS or FORMATS[name][0] >= FORMATS[self.sums][0]:
            return self
        half = spacing(self.value, name) / 2
        return self._new(self.value, self.noise + half ** 2 / 3, self.limit + half, (*self.steps, f"cast to {name}"))

    def reshape(self, *shape: Any) -> "Tracked":
        return self._map(lambda x: x.reshape(*shape))

    def __getitem__(self, where: Any) -> "Tracked":
        return self._map(lambda x: x[where])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__":
            if method == "reduce" and ufunc in (np.add, np.maximum, np.minimum):
                reduce = {np.add: self.sum, np.maximum: self.max, np.minimum: self.min}[ufunc]
                return reduce(options.get("axis", 0), bool(options.get("keepdims", False)))
            raise Underivable(f"numpy.{ufunc.__name__}.{method}")
        a = self._other(inputs[0])
        with np.errstate(all="ignore"):
            if len(inputs) == 1:
                return self._unary(ufunc, a)
            return self._binary(ufunc, a, self._other(inputs[1]))

    def _unary(self, ufunc: Any, a: "Tracked") -> "Tracked":
        if ufunc in (np.negative, np.absolute):
            return self._new(ufunc(a.value), a.noise, a.limit, a.steps)
        slopes = {np.exp: np.exp, np.sqrt: lambda x: 0.5 / np.sqrt(x), np.log: lambda x: 1 / x, np.tanh: lambda x: 1 - np.tanh(x) ** 2,
                  np.square: lambda x: 2 * x, np.reciprocal: lambda x: -1 / x ** 2}
        if ufunc not in slopes:
            raise Underivable(f"numpy.{ufunc.__name__}")
        value, slope = ufunc(a.value), np.abs(slopes[ufunc](a.value))
        # over the whole reach of the limit the function moves at most by its difference there
        reach = np.maximum(np.abs(ufunc(a.value + a.limit) - value), np.abs(ufunc(a.value - a.limit) - value))
        reach = np.where(np.isfinite(reach), reach, slope * a.limit)
        return self._rounded(value, a.noise * slope ** 2, reach, (*a.steps, ufunc.__name__), roundings=4.0 if ufunc in (np.exp, np.log, np.tanh) else 1.0)

    def _binary(self, ufunc: Any, a: "Tracked", b: "Tracked") -> "Tracked":
        steps = (*a.steps, *b.steps)
        x, y = a.value, b.value
        if ufunc is np.matmul:
            return self._matmul(a, b)
        value = ufunc(x, y)
        if ufunc in (np.add, np.subtract):
            return self._rounded(value, a.noise + b.noise, a.limit + b.limit, (*steps, ufunc.__name__))
        if ufunc is np.multiply:
            limit = a.limit * np.abs(y) + b.limit * np.abs(x) + a.limit * b.limit
            return self._rounded(value, a.noise * y ** 2 + b.noise * x ** 2, limit, (*steps, "multiply"))
        if ufunc in (np.divide, np.true_divide):
            noise = a.noise / y ** 2 + b.noise * (x / y ** 2) ** 2
            limit = (a.limit + np.abs(value) * b.limit) / np.maximum(np.abs(y) - b.limit, np.finfo(float).tiny)
            return self._rounded(value, noise, limit, (*steps, "divide"))
        if ufunc in (np.maximum, np.minimum):
            first = value == x
            close = np.abs(x - y) <= a.limit + b.limit
            noise = np.where(close, np.maximum(a.noise, b.noise), np.where(first, a.noise, b.noise))
            word = "relu" if np.ndim(y) == 0 and float(y) == 0 and ufunc is np.maximum else ufunc.__name__
            return self._new(value, noise, np.maximum(a.limit, b.limit), (*steps, word))
        if ufunc is np.power and y.ndim == 0 and float(y) == 2:
            return self._unary(np.square, a)
        raise Underivable(f"numpy.{ufunc.__name__}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = function.__name__
        if name in ("sum", "mean", "max", "min", "amax", "amin"):
            return getattr(args[0], name.removeprefix("a"))(*args[1:], **kwargs)
        if name in ("reshape", "transpose", "swapaxes", "expand_dims", "squeeze", "repeat", "tile", "broadcast_to", "ravel"):
            return args[0]._map(lambda x: function(x, *args[1:], **kwargs))
        if name == "dot" and len(args) == 2:
            return np.matmul(args[0], args[1])
        if name in ("concatenate", "stack", "vstack", "hstack"):
            parts = [self._other(x) for x in args[0]]
            joined = [function([getattr(p, f) for p in parts], *args[1:], **kwargs) for f in ("value", "noise", "limit")]
            return self._new(*joined, tuple(s for p in parts for s in p.steps))
        raise Underivable(f"numpy.{name}")

    __add__ = __radd__ = lambda self, x: np.add(self, x)
    __sub__ = lambda self, x: np.subtract(self, x)
    __rsub__ = lambda self, x: np.subtract(x, self)
    __mul__ = __rmul__ = lambda self, x: np.multiply(self, x)
    __truediv__ = lambda self, x: np.divide(self, x)
    __rtruediv__ = lambda self, x: np.divide(x, self)
    __matmul__ = lambda self, x: np.matmul(self, x)
    __rmatmul__ = lambda self, x: np.matmul(x, self)
    __neg__ = lambda self: np.negative(self)
    __abs__ = lambda self: np.absolute(self)
    __pow__ = lambda self, x: np.power(self, x)


class Underivable(TypeError):
    """A reference uses something whose errors are not followed here."""

    def __init__(self, what: str) -> None:
        super().__init__(f"errors are not followed through {what}; pass the reference's values and k= instead")


def name_of(dtype: Any) -> str:
    """fp32, fp16, bf16, int32 ... of a numpy or torch dtype, a language dtype or a name."""
    text = str(getattr(dtype, "name", dtype)).removeprefix("torch.").removeprefix("DT_").lower()
    if text in FORMATS:
        return text
    try:
        text = np.dtype(dtype).name
    except TypeError:
        pass
    known = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8e4m3", "float8_e5m2": "fp8e5m2",
             "double": "fp64", "half": "fp16", "float": "fp32"}
    return known.get(text, text)


def _plain(x: Any) -> np.ndarray:
    """A numpy array of anything array-like, torch tensors of every dtype included."""
    if hasattr(x, "detach"):
        x = x.detach().cpu()
        return (x.double() if x.is_floating_point() else x).numpy()
    return np.asarray(x)


def evaluate(reference: Callable[..., Any], inputs: Mapping[str, Any], sums: str = "fp32") -> Tracked:
    """The reference's value in float64 with the sizes its rounding errors may have."""
    made = reference(**{name: Tracked(_plain(x), sums=sums) if np.ndim(_plain(x)) else x for name, x in inputs.items()})
    return made if isinstance(made, Tracked) else Tracked(_plain(made), sums=sums)
