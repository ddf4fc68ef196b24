"""A headless Chromium driven over its debugging protocol, with nothing but what a notebook server needs anyway (tornado)."""
from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def program() -> str | None:
    return next((p for p in map(shutil.which, PROGRAMS) if p), None)


class Chromium:
    """One page. Every host but this machine is unreachable, and `outside` lists what the page asked of other hosts."""

    def __init__(self, width: int = 1200, height: int = 900) -> None:
        found = program()
        if found is None:
            raise RuntimeError(f"none of {', '.join(PROGRAMS)} is installed")
        self._loop = asyncio.new_event_loop()
        self._folder = tempfile.TemporaryDirectory(prefix="xpto-chromium-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [found, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-background-networking", "--disable-dev-shm-usage", "--force-color-profile=srgb",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
             f"--user-data-dir={self._folder.name}", f"--window-size={width},{height}", "--remote-debugging-port=0", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._number = 0
        self._replies: dict[int, asyncio.Future[Any]] = {}
        self.outside: list[str] = []
        self.errors: list[str] = []
        try:
            self._loop.run_until_complete(self._connect())
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.call(f"{domain}.enable")
            self.size(width, height)
        except BaseException:
            self.close()
            raise

    async def _connect(self) -> None:
        port_file = Path(self._folder.name) / "DevToolsActivePort"
        deadline = time.monotonic() + 30
        while not (port_file.is_file() and port_file.read_text().count("\n")):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Chromium did not start (exit code {self._process.poll()})")
            await asyncio.sleep(0.05)
        port = port_file.read_text().split()[0]
        from tornado.httpclient import AsyncHTTPClient
        while True:
            answer = await AsyncHTTPClient().fetch(HTTPRequest(f"http://127.0.0.1:{port}/json/list"))
            pages = [t for t in json.loads(answer.body) if t["type"] == "page"]
            if pages:
                break
            await asyncio.sleep(0.05)
        self._socket = await websocket_connect(pages[0]["webSocketDebuggerUrl"], max_message_size=1 << 28)
        self._reader = self._loop.create_task(self._read())

    async def _read(self) -> None:
        while (text := await self._socket.read_message()) is not None:
            message = json.loads(text)
            if "id" in message:
                future = self._replies.pop(message["id"], None)
                if future is not None and not future.done():
                    future.set_result(message)
            elif message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if url.split(":")[0] in ("http", "https", "ws", "wss") and not any(h in url for h in ("//127.0.0.1", "//localhost")):
                    self.outside.append(url)
            elif message["method"] == "Runtime.exceptionThrown":
                details = message["params"]["exceptionDetails"]
                self.errors.append(details.get("exception", {}).get("description") or details["text"])

    def call(self, method: str, timeout: float = 60, **parameters: Any) -> dict[str, Any]:
        async def ask() -> dict[str, Any]:
            self._number += 1
            future = self._loop.create_future()
            self._replies[self._number] = future
            await self._socket.write_message(json.dumps({"id": self._number, "method": method, "params": parameters}))
            return await asyncio.wait_for(future, timeout)

        answer = self._loop.run_until_complete(ask())
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def size(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, url: str) -> None:
        self.outside.clear()
        self.errors.clear()
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait(self, condition: str, timeout: float = 60) -> None:
        """Until a JavaScript expression is true."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                if self.evaluate(f"Boolean({condition})"):
                    return
            except RuntimeError:
                pass  # the page is being replaced
            if time.monotonic() > deadline:
                raise TimeoutError(f"not true within {timeout:g} s: {condition}")
            self._loop.run_until_complete(asyncio.sleep(0.1))

    def pause(self, seconds: float) -> None:
        self._loop.run_until_complete(asyncio.sleep(seconds))

    def key(self, key: str, code: str, number: int, modifiers: int = 0) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number, modifiers=modifiers)

    def move(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path: Path) -> None:
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def close(self) -> None:
        try:
            if hasattr(self, "_socket"):
                self._socket.close()
                self._loop.run_until_complete(asyncio.wait([self._reader], timeout=2))  # ends when the socket has closed
        finally:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._loop.close()
            self._folder.cleanup()

    def __enter__(self) -> "Chromium":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
