"""Defaults of a session: %pto_config shows and changes them, XPTO_* variables set them before it starts."""
from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from xpto.errors import PtoError

_KNOWN: dict[str, tuple[Any, tuple[Any, ...] | type, str]] = {
    "target": ("", str, "chip to compile for; empty: the decorator's arch=, then PYPTOPRO_JIT_ARCH, then ascend950"),
    "check": ("strict", ("strict", "warn"), "strict: what is not proven is refused; warn: compiled and marked"),
    "lang": ("auto", ("auto", "en", "zh"), "language of messages"),
    "device": ("sim", str, "where kernels run: sim, host or npu:N; %pto_device says what the others lack"),
    "timeout": ("60", str, "seconds a launch on host or a card may take"),
}
_CHINESE = {
    "target": "编译的目标芯片；留空：先看装饰器的 arch=，再看 PYPTOPRO_JIT_ARCH，最后 ascend950",
    "check": "strict：未证明的一律拒绝；warn：编译并标记",
    "lang": "提示信息的语言",
    "device": "kernel 在哪里运行：sim、host 或 npu:N；%pto_device 说明其余还缺什么",
    "timeout": "在 host 或卡上一次启动最多用多少秒",
}

values: dict[str, Any] = {key: os.environ.get(f"XPTO_{key.upper()}", default) for key, (default, _, _) in _KNOWN.items()}


def set_value(key: str, value: Any) -> None:
    if key not in _KNOWN:
        import difflib
        near = difflib.get_close_matches(key, _KNOWN, 1)
        raise PtoError(f"no setting {key!r}{f'; did you mean {near[0]}' if near else ''}. Known: {', '.join(_KNOWN)}")
    allowed = _KNOWN[key][1]
    if isinstance(allowed, tuple) and value not in allowed:
        raise PtoError(f"{key} is one of {', '.join(map(str, allowed))}, not {value!r}")
    if key == "device":
        from xpto import places
        value = places.check(value, look=True)
    if key == "timeout":
        try:
            if not float(value) > 0:
                raise ValueError
        except (TypeError, ValueError):
            raise PtoError(f"timeout is a number of seconds, not {value!r}") from None
    values[key] = value


def compile_options() -> dict[str, Any]:
    chosen = {"check": values["check"]}
    if values["target"]:
        chosen["target"] = values["target"]
    return chosen


def chip_stamp(target: str | None) -> str:
    """What the chip file of a target says now, as a digest; empty for a chip that is built in. An edited file is another chip."""
    target = target or os.environ.get("PYPTOPRO_JIT_ARCH", "")
    if not str(target).endswith(".json"):
        return ""
    try:
        return hashlib.sha256(Path(target).read_bytes()).hexdigest()
    except OSError:
        return "unreadable"


def launch_options() -> dict[str, Any]:
    return {"check": values["check"]}


def describe() -> str:
    from xpto import chinese
    zh = chinese.chosen()
    width = max(map(len, _KNOWN))
    return "\n".join(f"{key:<{width}}  {str(values[key]) or ('（未设置）' if zh else '(not set)'):<10}  {_CHINESE[key] if zh else text}" for key, (_, _, text) in _KNOWN.items())
