"""Values that any message can carry."""
from __future__ import annotations

import base64
import math
from typing import Any

from xpto.text import repaired


def plain(value: Any) -> Any:
    """The value in JSON's own types: NumPy scalars become numbers, bytes base64, NaN and infinities None, what is left its text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return repaired(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {repaired(str(k)): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(v) for v in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if callable(getattr(value, "tolist", None)):  # NumPy and torch, scalars and arrays
        return plain(value.tolist())
    return repaired(str(value))
