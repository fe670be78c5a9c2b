"""A minimal client of the Debug Adapter Protocol, as VS Code has one."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any


class DebugAdapter:
    """A connection to debugpy.

    Args:
        port: where debugpy listens.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._number = 0
        self._messages: list[dict[str, Any]] = []
        self._writer: asyncio.StreamWriter | None = None

    async def attach(self, breakpoints: dict[str, list[int]]) -> None:
        """Attach, with breakpoints at lines of files."""
        self._messages.clear()
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        await self.request("initialize", adapterID="test", pathFormat="path", linesStartAt1=True, columnsStartAt1=True)
        attaching = self._send("attach", justMyCode=False)
        await self.event("initialized")
        for file, lines in breakpoints.items():
            answer = await self.request("setBreakpoints", source={"path": file}, breakpoints=[{"line": line} for line in lines])
            assert all(one["verified"] for one in answer["breakpoints"]), answer
        await self.request("configurationDone")
        await self._wait(lambda message: message.get("request_seq") == attaching)

    async def request(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request and return the body of its answer."""
        number = self._send(command, **arguments)
        answer = await self._wait(lambda message: message.get("type") == "response" and message.get("request_seq") == number)
        assert answer["success"], answer
        return dict(answer.get("body") or {})

    async def event(self, name: str) -> dict[str, Any]:
        """Wait for an event and return its body."""
        return dict((await self._wait(lambda message: message.get("event") == name)).get("body") or {})

    async def close(self) -> None:
        """End the connection, if there is one; the process continues."""
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(ConnectionError):
                await self._writer.wait_closed()

    def _send(self, command: str, **arguments: Any) -> int:
        assert self._writer is not None, "not attached"
        self._number += 1
        body = json.dumps({"seq": self._number, "type": "request", "command": command, "arguments": arguments}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return self._number

    async def _wait(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            for message in self._messages:
                if fits(message):
                    self._messages.remove(message)
                    return message
            head = await self._reader.readuntil(b"\r\n\r\n")
            self._messages.append(json.loads(await self._reader.readexactly(int(head.split(b":")[1]))))
