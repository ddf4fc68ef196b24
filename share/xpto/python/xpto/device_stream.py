"""A queue of launches on one device: kernel[stream, block_dim](...) returns at once on a card, and the outputs are in place after
stream.synchronize(). On sim and host a launch is done when it returns, so the same program runs there."""
from __future__ import annotations

from typing import Any

from xpto import config, places


class Stream:
    """xpto.Stream("npu:0"); without a name the session's device at the time it is made."""

    def __init__(self, device: str = "") -> None:
        self.device = places.check(device or str(config.values["device"]))
        self._runs: list[Any] = []

    def launch(self, kernel: Any, args: tuple, kwargs: dict[str, Any], **options: Any) -> Any:
        """One launch; what `kernel[stream, block_dim](...)` calls."""
        run = kernel.launch(args, kwargs, device=self.device, wait=False, **options)
        if run.status == "running":
            self._runs.append(run)
        return run

    def synchronize(self) -> None:
        """Ends every launch of the stream, in order. LaunchError of the first that failed; the others are ended all the same."""
        first: Exception | None = None
        runs, self._runs = self._runs, []
        for run in runs:
            try:
                run.wait()
            except Exception as e:
                first = first or e
        if first is not None:
            raise first
