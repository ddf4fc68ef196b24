"""The Jupyter kernel from outside: every test speaks the protocol with jupyter_client, as a front-end would."""
from __future__ import annotations

import os
import queue
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("XPTO_BUILD", ROOT / "build"))
os.environ["JUPYTER_PATH"] = str(BUILD / "share/jupyter")

from jupyter_client.manager import KernelManager  # noqa: E402  (reads JUPYTER_PATH)


@dataclass
class Outcome:
    """Everything one cell sent."""
    reply: dict[str, Any]
    messages: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def status(self) -> str:
        return self.reply["status"]

    @property
    def error(self) -> str:
        return self.reply.get("ename", "")

    def text(self, name: str = "stdout") -> str:
        return "".join(m["content"]["text"] for m in self.of("stream") if m["content"]["name"] == name)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [m for m in self.messages if m["msg_type"] == kind]

    def result(self) -> dict[str, Any]:
        return self.of("execute_result")[-1]["content"]["data"]

    def displays(self) -> list[dict[str, Any]]:
        return [m["content"]["data"] for m in self.of("display_data")]


class Kernel:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        env = {**os.environ, "IPYTHONDIR": str(folder / "ipython")}
        env.pop("PYTHONPATH", None)
        self.manager = KernelManager(kernel_name="xpto")
        self.manager.start_kernel(cwd=str(folder), env=env)
        self.connect()

    def connect(self) -> None:
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        last = self.client.kernel_info()  # wait_for_ready has asked several times and read one answer
        while self.client.get_shell_msg(timeout=20)["parent_header"].get("msg_id") != last:
            pass

    @property
    def process(self) -> Any:
        return self.manager.provisioner.process

    def submit(self, code: str, **options: Any) -> str:
        return self.client.execute(code, **options)

    def reply(self, message_id: str, timeout: float = 20) -> dict[str, Any]:
        """The reply to one request; replies to others must not come before it."""
        message = self.client.get_shell_msg(timeout=timeout)
        assert message["parent_header"].get("msg_id") == message_id, f"a reply to another request: {message}"
        return message["content"]

    def collect(self, message_id: str, timeout: float = 20) -> list[dict[str, Any]]:
        """What a request published, up to and including its idle status."""
        found = []
        while True:
            message = self.client.get_iopub_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") != message_id:
                continue
            found.append(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return found

    def finish(self, message_id: str, timeout: float = 20) -> Outcome:
        begin = time.monotonic()
        messages = self.collect(message_id, timeout)
        return Outcome(self.reply(message_id, timeout), messages, time.monotonic() - begin)

    def run(self, code: str, timeout: float = 20, **options: Any) -> Outcome:
        options.setdefault("allow_stdin", False)
        return self.finish(self.submit(code, **options), timeout)

    def ask(self, kind: str, *arguments: Any, **options: Any) -> dict[str, Any]:
        return self.reply(getattr(self.client, kind)(*arguments, **options))

    def quiet(self) -> None:
        """Nothing more is waiting: exactly one reply came for each request."""
        with pytest.raises(queue.Empty):
            self.client.get_shell_msg(timeout=0.1)

    def close(self) -> None:
        self.client.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """One kernel for a file's tests; a test that ends it takes `fresh_kernel`."""
    k = Kernel(tmp_path_factory.mktemp("kernel"))
    yield k
    k.close()


@pytest.fixture
def fresh_kernel(tmp_path: Path) -> Iterator[Kernel]:
    k = Kernel(tmp_path)
    yield k
    k.close()
