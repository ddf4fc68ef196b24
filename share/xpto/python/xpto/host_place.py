"""device=host: kernels compiled by this machine's C++ compiler against PTO-ISA's CPU simulator, run in a worker process."""
from __future__ import annotations

import time
from typing import Any

from xpto import artefacts, config, host_build, launch_values
from xpto.device_run import DeviceRun
from xpto.errors import HazardError, InternalError, LaunchError
from xpto.worker import Refused, Worker, WorkerGone, WorkerSilent

SLICE_MS = 50


class HostPlace:
    """One worker per kernel that was launched last: a library of another kernel gets a process of its own."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._loaded = ("", "")

    def _ready(self, build: host_build.HostBuild) -> Worker:
        wanted = (build.cube, build.vector)
        if self._worker is None or not self._worker.alive() or self._loaded != wanted:
            self.close()
            worker = Worker()
            worker.ask("open", {"kind": "host"})
            try:
                worker.ask("load", {"cube": build.cube, "vector": build.vector})
            except Refused as e:
                worker.kill()
                raise LaunchError(f"the compiled kernel cannot be loaded: {e.said}") from None
            self._worker, self._loaded = worker, wanted
        return self._worker

    def close(self) -> None:
        if self._worker is not None:
            self._worker.kill()
        self._worker, self._loaded = None, ("", "")

    def launch(self, kernel: Any, compiled: Any, values: list[Any], converted: list[dict[str, Any]], block_dim: int) -> DeviceRun:
        emitted = compiled.native.emitted()
        build = host_build.build(emitted)
        artefacts.link(compiled, "host", build.folder)
        params = compiled.native.params()
        packed = launch_values.pack(params, converted, emitted["parameters"])
        run = DeviceRun(kernel, compiled, "host", f"host C++ ({build.compiler}, PTO-ISA headers {build.headers})",
                        {p["name"]: v for p, v in zip(params, values)}, [])
        run.block_dim, run.headers = block_dim, build.headers
        run.notes.append("the order of one core's pipes is not tested here: every instruction is done before the next one starts")
        if emitted["arch"] != "a5":
            run.notes.append("the headers' simulator plays the memories of ascend950 here")
        worker = self._ready(build)
        limit = float(config.values["timeout"])
        begin, finished = time.monotonic(), False
        try:
            worker.ask("launch", {**packed.head(), "block_dim": block_dim}, packed.blobs, seconds=60)
            while True:
                reply, blobs, printed = worker.ask("wait", {"ms": SLICE_MS})
                run.printed += printed
                if reply["state"] == "done":
                    finished = True
                    break
                if time.monotonic() - begin > limit:
                    raise LaunchError(f"{kernel.__name__} did not finish on host in {limit:g} s (setting timeout); its process was ended, "
                                      "arguments are as before")
        except Refused as e:
            print(getattr(e, "printed", ""), end="")
            if e.kind == "hang":
                run.status = "hang"
                raise HazardError(f"{kernel.__name__} hangs on host: {e.said}; arguments are as before", report=run) from None
            if e.kind == "stopped":
                raise LaunchError(f"{kernel.__name__} was stopped on host: {e.said}; arguments are as before") from None
            raise InternalError(f"xpto-worker: {e}") from None
        except WorkerGone as e:
            raise LaunchError(f"{kernel.__name__} crashed on host ({e.how}) before it was done; arguments are as before"
                              + (f"\n{e.output.strip()}" if e.output.strip() else "")) from None
        except WorkerSilent:
            raise LaunchError(f"{kernel.__name__}: its process does not answer any more and was ended; arguments are as before") from None
        finally:
            run.seconds = time.monotonic() - begin
            if not finished:  # also after an interrupt: a launch that did not come to its end goes with its process
                self.close()
        packed.write_back([int(i) for i in reply["written"].split()], blobs)
        run.cores = int(reply.get("cores", 0))
        run.status = "done"
        if run.printed:
            print(run.printed, end="")
        if not run.give_back(worker):
            self.close()
        return run
