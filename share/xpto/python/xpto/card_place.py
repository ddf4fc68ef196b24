"""device=npu:N: a card through a worker process that opens the toolkit's runtime library. Never run on hardware so far: tests play the card."""
from __future__ import annotations

import time
from typing import Any

from xpto import artefacts, card_build, card_words, config, launch_values, toolchain
from xpto.device_run import NEVER_ON_HARDWARE, DeviceRun
from xpto.errors import LaunchError
from xpto.worker import Refused, Worker, WorkerGone, WorkerSilent

SLICE_MS = 50
# what the runtime calls the chips we compile for; the longer prefix wins
CHIPS = {"ascend950": "Ascend950", "ascend910b": "Ascend910B", "ascend910c": "Ascend910_93"}


def expected_chip(target: str) -> str:
    return next((soc for ours, soc in CHIPS.items() if target.startswith(ours)), "")


def target_of_chip(soc: str) -> str:
    """The target that compiles for a chip the runtime names; empty when none does."""
    return next((ours for ours, name in CHIPS.items() if soc.startswith(name)), "")


class CardPlace:
    """One card and the worker that holds it. The worker starts at the first launch and keeps the card until it is restarted."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.chip = ""
        self.fake = False
        self.version = ""
        self._worker: Worker | None = None
        self._library = ""
        self._going: DeviceRun | None = None      # launched and not ended
        self._since = 0.0
        self._crashed = ""                        # how the worker before this one ended

    @property
    def name(self) -> str:
        return f"npu:{self.number}"

    # ------------------------------------------------------------------ state

    def occupied(self) -> str:
        """What still runs on the card, in words; empty when nothing does. Looks, and does not wait."""
        if self._going is None or self._worker is None:
            return ""
        run = self._going
        try:
            if self._poll(run, 0.001):
                return ""
        except LaunchError as e:
            run.notes.append(str(e))
            return ""
        seconds = time.monotonic() - self._since
        return (f"{self.name} is occupied: {run.kernel.__name__} still runs there, since {seconds:.1f} s, held by worker process {self._worker.pid} of this session. "
                "What a card has started cannot be called back; %pto_device restart ends the worker, which gives the card back")

    def restart(self) -> str:
        """Ends the worker, and with it everything it holds: kernel, memory, stream, card."""
        going, self._going = self._going, None
        if going is not None:
            going.status = "interrupted"
        how = ""
        if self._worker is not None:
            how = self._worker.end() if going is None else (self._worker.kill() or "")
        self._worker, self._library = None, ""
        return how

    def _open(self) -> Worker:
        if self._worker is not None and self._worker.alive():
            return self._worker
        crashed = self._worker.how_it_ended() if self._worker is not None else ""
        self._worker, self._library, self._going = None, "", None
        worker, library = Worker(), toolchain.runtime_library()
        try:
            reply, _, _ = worker.ask("open", {"kind": "ascend", "runtime": library, "device": self.number})
        except Refused as e:
            worker.end()
            raise LaunchError(card_words.sentence(self.number, e, library)) from None
        except WorkerGone as e:
            raise LaunchError(f"{self.name}: the runtime library {library} crashed while it was opened ({e.how}){_said(e.output)}") from None
        except WorkerSilent:
            worker.kill()
            raise LaunchError(f"{self.name}: the runtime library {library} does not answer; `npu-smi info` shows the card's health") from None
        self._worker = worker
        self.chip, self.fake, self.version = reply.get("chip", ""), reply.get("fake") == "1", reply.get("version", "")
        self._crashed = crashed
        return worker

    # ------------------------------------------------------------------ launching

    def launch(self, kernel: Any, compiled: Any, values: list[Any], converted: list[dict[str, Any]], block_dim: int, wait: bool = True) -> DeviceRun:
        emitted = compiled.native.emitted()
        if self._going is not None:
            self._finish_previous()
        worker = self._open()
        self._check_chip(kernel, emitted["chip"])
        build = card_build.build(emitted)
        artefacts.link(compiled, "npu", build.folder)
        params = compiled.native.params()
        packed = launch_values.pack(params, converted, emitted["parameters"])
        by = f"{self.name} ({self.chip}, runtime {self.version or 'of unknown version'})"
        if self.fake:
            by = f"a fake runtime that plays {self.chip}; no card, values are canned"
        run = DeviceRun(kernel, compiled, self.name, by, {p["name"]: v for p, v in zip(params, values)}, [NEVER_ON_HARDWARE, build.headers])
        run.block_dim, run.headers, run.fake = block_dim, build.headers, self.fake
        if self._crashed:
            run.notes.append(f"the worker before had crashed after its last verdict ({self._crashed}); this is a new one")
            self._crashed = ""
        try:
            if build.library != self._library:
                worker.ask("load", {"library": build.library})
                self._library = build.library
            self._since = time.monotonic()
            worker.ask("launch", {**packed.head(), "block_dim": block_dim}, packed.blobs, seconds=120)
        except Refused as e:
            raise LaunchError(card_words.sentence(self.number, e, toolchain.runtime_library())) from None
        except WorkerGone as e:
            self._lost()
            raise LaunchError(f"{kernel.__name__}: the worker crashed at the launch ({e.how}), before a verdict; arguments are as before{_said(e.output)}") from None
        except WorkerSilent:
            self._lost()
            raise LaunchError(f"{kernel.__name__}: the runtime does not come back from the launch; the worker was ended, which gives the card back") from None
        run._packed = packed  # type: ignore[attr-defined]
        run._finish = lambda timeout: self._wait(run, timeout)
        self._going = run
        if wait:
            self._wait(run, None)
        return run

    def _finish_previous(self) -> None:
        """A stream runs in order: what was launched before ends first, when somebody still wants it."""
        previous = self._going
        if previous is not None and previous.status == "running":
            self._wait(previous, None)
        elif occupied := self.occupied():
            raise LaunchError(occupied)

    def _check_chip(self, kernel: Any, target: str) -> None:
        expected = expected_chip(target)
        if expected and self.chip and not self.chip.startswith(expected):
            fits = target_of_chip(self.chip)
            what = f"compile it with target={fits}" if fits else "no target here compiles for that chip"
            raise LaunchError(f"{self.name} is an {self.chip}, and {kernel.__name__} was compiled for {target} ({expected}): {what}, or choose another device")

    def _wait(self, run: DeviceRun, timeout: float | None) -> None:
        if self._going is not run:
            return
        limit = float(config.values["timeout"]) if timeout is None else timeout
        try:
            while not self._poll(run, SLICE_MS / 1000):
                if time.monotonic() - self._since > limit:
                    run.status = "timeout"
                    assert self._worker is not None
                    raise LaunchError(f"{run.kernel.__name__} did not end on {self.name} within {limit:g} s (setting timeout); arguments are as before.\n" + self.occupied())
        except KeyboardInterrupt:
            run.status = "interrupted"
            print(f"interrupted, but not on the card: {self.occupied() or run.kernel.__name__ + ' has ended meanwhile'}")
            raise

    def _poll(self, run: DeviceRun, seconds: float) -> bool:
        """True when the launch has come to its end; then outputs are in place, unless nobody waits for them any more."""
        worker = self._worker
        assert worker is not None
        try:
            reply, blobs, printed = worker.ask("wait", {"ms": max(1, int(seconds * 1000))}, seconds=seconds + 20)
        except Refused as e:
            self._going, run.status = None, "failed"
            run.printed += getattr(e, "printed", "")
            print(run.printed, end="")
            self.restart()  # after a fault the runtime's state in that process is not to be used any more
            raise LaunchError(card_words.sentence(self.number, e, "")) from None
        except WorkerGone as e:
            self._lost()
            run.status = "failed"
            raise LaunchError(f"{run.kernel.__name__}: the worker crashed ({e.how}) before a verdict; arguments are as before{_said(e.output)}") from None
        except WorkerSilent:
            self._lost()
            run.status = "failed"
            raise LaunchError(f"{run.kernel.__name__}: the runtime does not come back from waiting for {self.name}; the worker was ended, which gives the card "
                              "back once the driver notices. Arguments are as before") from None
        run.printed += printed
        if reply["state"] == "running":
            return False
        self._going = None
        run.seconds = time.monotonic() - self._since
        if run.status == "running":  # after an interrupt or a timeout the user was told that arguments are as before
            run._packed.write_back([int(i) for i in reply["written"].split()], blobs)  # type: ignore[attr-defined]
            run.status = "done"
            print(run.printed, end="")
        if not run.give_back(worker):
            self._lost()
        return True

    def _lost(self) -> None:
        if self._worker is not None:
            self._worker.kill()
        self._worker, self._library, self._going = None, "", None


def _said(output: str) -> str:
    lines = output.strip().splitlines()[-6:]
    return "\n" + "\n".join(lines) if lines else ""


def look() -> tuple[list[dict[str, Any]], str]:
    """Every card the runtime sees: number, chip, state in words; and, when it could not be asked, why. Takes each card for a moment."""
    library = toolchain.runtime_library()
    worker = Worker()
    try:
        reply, _, _ = worker.ask("devices", {"runtime": library})
    except Refused as e:
        return [], card_words.sentence(0, e, library)
    except (WorkerGone, WorkerSilent) as e:
        return [], f"the runtime library {library} " + (f"crashed ({e.how})" if isinstance(e, WorkerGone) else "does not answer")
    finally:
        worker.end()
    rows = []
    for n in range(int(reply.get("count", 0))):
        trouble = Refused(reply.get(f"error{n}", ""), int(reply.get(f"code{n}") or 0), "aclrtSetDevice", reply.get(f"said{n}", ""))
        rows.append({"number": n, "chip": reply.get(f"chip{n}", ""), "fake": reply.get("fake") == "1", "version": reply.get("version", ""),
                     "trouble": card_words.sentence(n, trouble, library) if trouble.kind else "", "kind": trouble.kind})
    return rows, ""
