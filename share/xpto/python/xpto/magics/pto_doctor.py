"""%pto_doctor: what is found here, and what each absence costs."""
from __future__ import annotations

from typing import Any

from xpto.magics import UsageError, parse_line

DOC = """Shows what is found on this machine (Python, chips, toolkit, devices) and what each absence costs.

%pto_doctor

The command xpto doctor does the same."""


def register(shell: Any) -> None:
    def pto_doctor(line: str) -> None:
        names, _ = parse_line("%pto_doctor", line, [], DOC)
        if names is None:
            return
        if names:
            raise UsageError(f"%pto_doctor takes no arguments, got {' '.join(names)}")
        from xpto.commands import doctor
        print(doctor.text(doctor.findings()))

    pto_doctor.__doc__ = DOC
    shell.register_magic_function(pto_doctor, magic_kind="line", magic_name="pto_doctor")
