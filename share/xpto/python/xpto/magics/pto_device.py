"""%pto_device: choose where kernels run."""
from __future__ import annotations

from xpto import config
from xpto.magics import UsageError, parse_line

DOC = """Shows where kernels can run and what is missing for the others, or chooses one.

%pto_device [sim|host|npu:N]
%pto_device restart              ends the workers, which gives back cards and memory; the chosen device stays

sim is the simulator, host compiles the generated C++ with this machine's compiler, npu:N is a card."""


def register(shell: object) -> None:
    def pto_device(line: str) -> None:
        names, _ = parse_line("%pto_device", line, [], DOC)
        if names is None:
            return
        if len(names) > 1:
            raise UsageError(f"%pto_device: one device, got {' '.join(names)}")
        from xpto import places
        if names == ["restart"]:
            ended = places.restart()
            print(f"ended: {', '.join(ended)}" if ended else "nothing was open")
            return
        if names:
            config.set_value("device", names[0])
            print(f"kernels run on {config.values['device']}")
            return
        for row in places.devices():
            chosen = "* " if row["device"] == config.values["device"] else "  "
            what = f"usable{' (' + row['chip'] + ')' if row['chip'] else ''}" if row["usable"] else "not usable: " + row["missing"][0]
            print(f"{chosen}{row['device']:<6}  {what}")
            for more in row["missing"][1:]:
                print(" " * 22 + more)

    pto_device.__doc__ = DOC
    shell.register_magic_function(pto_device, magic_kind="line", magic_name="pto_device")  # type: ignore[attr-defined]
