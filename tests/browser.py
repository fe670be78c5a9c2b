"""A headless Chromium, driven by the DevTools protocol: pages, what they request, and what a person does on them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
    "--window-size=1600,1000",
]
SECONDS = 15  # until something must have appeared on a page


def chromium() -> str:
    """Return the program; skip the test where it is not installed."""
    found = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("Chromium is not installed")
    return found


@dataclass
class Page:
    """An open page.

    Attributes:
        requests: method, URL and status of each finished request to a server, in order; status 0: it failed.
        errors: what the page's scripts reported as errors.
        chooser: the field that the dialog for a file belongs to, once it is open.
    """

    _socket: ClientConnection
    requests: list[tuple[str, str, int]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    chooser: asyncio.Future[int] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _answers: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    _sent: dict[str, tuple[str, str]] = field(default_factory=dict)
    _statuses: dict[str, int] = field(default_factory=dict)

    async def listen(self) -> None:
        """Receive what the browser reports, until the connection ends."""
        with contextlib.suppress(ConnectionClosed):
            async for message in self._socket:
                said = json.loads(message)
                if "id" in said:
                    self._answers.pop(said["id"]).set_result(said)
                else:
                    self._report(said["method"], said["params"])

    def _report(self, method: str, params: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            if not params["request"]["url"].startswith("data:"):
                self._sent[params["requestId"]] = (params["request"]["method"], params["request"]["url"])
        elif method == "Network.responseReceived":
            self._statuses[params["requestId"]] = params["response"]["status"]
        elif method in ("Network.loadingFinished", "Network.loadingFailed") and params["requestId"] in self._sent:
            sent = self._sent.pop(params["requestId"])
            if not params.get("canceled"):  # by the page itself, when it is left
                failed = method == "Network.loadingFailed"
                self.requests.append((*sent, 0 if failed else self._statuses.get(params["requestId"], 0)))
        elif method == "Page.fileChooserOpened":
            self.chooser.set_result(params["backendNodeId"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:500])

    async def call(self, method: str, **params: Any) -> Any:
        """Send a command and return its result."""
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        waiting = self._answers[number]
        await self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        said = await asyncio.wait_for(waiting, SECONDS)
        assert "error" not in said, said
        return said["result"]

    async def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression."""
        said = await self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    async def until(self, script: str, what: str = "") -> Any:
        """Wait until an expression is true, and return its value."""
        end = asyncio.get_running_loop().time() + SECONDS
        while not (value := await self.run(script)):
            if asyncio.get_running_loop().time() > end:
                raise AssertionError(f"not on the page: {what or script}\n{await self.text()}\n{self.requests[-8:]}\n{self.errors}")
            await asyncio.sleep(0.05)
        return value

    async def open(self, url: str) -> None:
        """Open an address as a person who types it."""
        await self.call("Page.navigate", url=url, transitionType="typed")

    async def text(self) -> str:
        """Return the visible text."""
        return str(await self.run("document.body.innerText"))

    async def shows(self, text: str) -> None:
        """Wait until the page shows a text."""
        await self.until(f"(document.body?.innerText ?? '').includes({json.dumps(text)})", text)

    async def click(self, script: str) -> None:
        """Click the element that an expression finds, when it is there."""
        await self.until(f"(() => {{ const found = {script}; if (!found) return false; found.click(); return true }})()", script)

    async def type(self, script: str, text: str) -> None:
        """Write a text into the field that an expression finds, in place of its content."""
        focused = "found.focus(); found.select(); return true"
        await self.until(f"(() => {{ const found = {script}; if (!found) return false; {focused} }})()", script)
        await self.call("Input.insertText", text=text)

    async def press_enter(self) -> None:
        """Press the Enter key."""
        for kind in ("keyDown", "keyUp"):
            await self.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")

    async def choose_file(self, script: str, file: Path) -> None:
        """Click what an expression finds, and choose a file in the dialog that it opens."""
        await self.call("Page.setInterceptFileChooserDialog", enabled=True)
        await self.click(script)
        chosen = await asyncio.wait_for(self.chooser, SECONDS)
        await self.call("DOM.setFileInputFiles", files=[str(file)], backendNodeId=chosen)

    async def picture(self) -> bytes:
        """Return what the page looks like, as PNG."""
        return base64.b64decode((await self.call("Page.captureScreenshot"))["data"])


@asynccontextmanager
async def open_browser() -> AsyncIterator[Page]:
    """Start a browser with a profile of its own, and open a page."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [chromium(), *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
        assert process.stderr is not None
        try:
            while b"listening on" not in (line := await process.stderr.readline()):
                assert line, "the browser has ended"
            base = line.decode().rpartition(" ")[2].strip()
            async with connect(base, max_size=None, proxy=None) as control:
                await control.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
                targets = json.loads(await control.recv())["result"]["targetInfos"]
            target = next(found["targetId"] for found in targets if found["type"] == "page")
            address = f"{base.partition('/devtools/')[0]}/devtools/page/{target}"
            async with connect(address, max_size=None, proxy=None) as socket:
                page = Page(socket)
                listening = asyncio.create_task(page.listen())
                for domain in ("Network", "Page", "Runtime", "DOM"):
                    await page.call(f"{domain}.enable")
                yield page
                listening.cancel()
        finally:
            process.kill()
            await process.communicate()
