"""A window attached to something that says nonsense after its greeting: it tells that in a sentence, and stays usable."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from inspector_app.engines.running_apps import RunningApp
from tests.gui.window.driver import WindowDriver
from tests.sweep import count
from tests.unit.inspector_app.test_hostile_input import EVENT, changed

KEY = {"app_name": "mine", "user_id": "u", "session_id": "s"}
TALK: list[tuple[dict[str, Any], Any]] = [
    ({"type": "session", "state": {"k": 1}, "older": 0, "store": {"file": None}, **KEY}, [EVENT]),
    ({"type": "started", "run": "i", "root": {"name": "a"}, "waits": True, "at": 1, **KEY}, None),
    ({"type": "partial", "run": "i", **KEY}, EVENT),
    ({"type": "committed", "run": "i", "state_before": {}, "temp": {}, "at": 2, "waits": False, "request": 1, **KEY}, {**EVENT, "id": "f"}),
    ({"type": "at", "run": "i", "place": "before_model", "at": 3, "waits": False, "agent": "a", "request": {"contents": []}}, None),
    ({"type": "left", "at": 3}, None),
    ({"type": "error", "error": {"type": "E", "message": "m"}}, None),
    ({"type": "ended", "run": "i", "error": {"type": "E", "message": "m", "traceback": "t"}, "finished": False}, None),
    ({"type": "bye", "why": "closed"}, None),
]
LINES = {
    "text": b"nonsense\n",
    "a list": b"[]\n",
    "no type": b"{}\n",
    "deep": b"[" * 100_000 + b"\n",
    "a nameless session": b'{"type": "session", "app_name": null, "user_id": "u", "session_id": "s", "state": {}}\t[]\n',
    "half a pair": b'{"type": "\\ud800"}\n',
    "infinite": b'{"type": "left", "at": 1e999}\n',
    "two tabs": b'{"type": "session"}\t[]\t[]\n',
    "bytes": bytes(range(256)) + b"\n",
    "wide": b"[" + b"[]," * 2_500_000 + b"[]]\n",
    "without an end": b"a" * 120_000_000,
}
BOUNDS = {"wide": "would take more than 230 MB of memory", "without an end": "is longer than 115,000,000 bytes"}


def talks() -> Iterator[bytes]:
    """Yield what an app says, with one wrong value somewhere."""
    for number, (head, about) in enumerate(TALK):
        for wrong in changed({"head": head, "about": about}):
            if isinstance(wrong, dict) and "head" in wrong:
                said = [*TALK[:number], (wrong["head"], wrong.get("about")), *TALK[number + 1 :]]
                yield b"".join(
                    json.dumps(one).encode() + (b"\t" + json.dumps(other).encode() if other is not None else b"") + b"\n"
                    for one, other in said
                )


def hear(driver: WindowDriver, said: bytes) -> list[str]:
    """Attach to an app that says this, and return what the window's log shows of it."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b'{"type": "hello", "engine": "e", "silence": 10}\n' + said)
        try:
            await writer.drain()
            writer.write_eof()
            await reader.read()
        except OSError:
            pass
        writer.close()

    async def attach() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        app = RunningApp(os.getppid(), server.sockets[0].getsockname()[1], "t", ("mine",), "p", "e")
        await driver.inspector.features.opening.attaching.attach(app)
        server.close()

    before = len(driver.log_text())
    driver.inspector.tasks.spawn(attach(), "Attaching")
    driver.run_until(lambda: driver.inspector.run.attached is not None)
    driver.run_until(lambda: driver.inspector.run.attached is None, timeout=20_000)
    driver.run_until_idle()
    return driver.log_text()[before:].splitlines()


@pytest.mark.parametrize("name", LINES)
def test_nonsense_ends_the_watching_with_a_sentence(driver: WindowDriver, name: str) -> None:
    found = hear(driver, LINES[name])
    assert any("app continues without the window" in line for line in found), found
    assert BOUNDS.get(name, "") in "".join(found)
    assert "messages failed" not in "".join(found)
    assert len("".join(found)) < 2_000


@pytest.mark.sweep
@pytest.mark.timeout(3_600)
def test_one_wrong_value_anywhere_keeps_the_window(driver: WindowDriver) -> None:
    for said in [*talks()][:: count(300, 1)]:
        found = hear(driver, said)
        assert not [line for line in found if "Traceback" in line or "messages failed" in line], (said, found)
