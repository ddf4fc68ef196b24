"""%pto_config: show and change the session's defaults."""
from __future__ import annotations

from typing import Any

from xpto import config
from xpto.magics import Option, UsageError, parse_line

DOC = """Shows the defaults, or changes some: %pto_config check=warn lang=zh"""


def register(shell: Any) -> None:
    def pto_config(line: str) -> None:
        known = [Option(k, "", "") for k in config.values]
        names, options = parse_line("%pto_config", line, known, DOC)
        if names is None:
            return
        if names:
            raise UsageError(f"%pto_config: write name=value; known names: {', '.join(config.values)}")
        for key, value in options.items():
            config.set_value(key, value)
        print(config.describe())

    pto_config.__doc__ = DOC
    shell.register_magic_function(pto_config, magic_kind="line", magic_name="pto_config")
