"""The window and all commands that read open no connection: prices are the bundled ones."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.cli import main
from tests.gui.window.test_request_tab import shown

READING = (
    ("sessions",),
    ("events",),
    ("state",),
    ("invocations",),
    ("costs",),
    ("costs", "--by", "call"),
    ("forks",),
    ("doctor",),
)


@pytest.fixture
def no_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Refuse every connection and every look-up of a name, and list what was tried."""
    tried: list[object] = []

    def refuse(*arguments: object, **_: object) -> NoReturn:
        tried.append(arguments[1:])
        raise OSError("connections are refused in this test")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield tried
    assert tried == []


@pytest.mark.usefixtures("no_connections")
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_reading_commands_open_no_connection(command: tuple[str, ...], recorded_db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, *options = command
    assert main([name, str(recorded_db), *options, "--json"]) == 0
    assert capsys.readouterr().out.strip()


@pytest.mark.usefixtures("no_connections")
@pytest.mark.parametrize("suffix", ["json", "jsonl", "md", "html"])
def test_an_export_opens_no_connection(suffix: str, recorded_db: Path, tmp_path: Path) -> None:
    assert main(["export", str(recorded_db), str(tmp_path / f"out.{suffix}")]) == 0


def test_the_window_opens_no_connection(
    inspector: Inspector, no_connections: list[object], recorded_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(recorded_db)
    qtbot.waitUntil(lambda: "$" in inspector.window.status.text("tokens"), timeout=20_000)
    detail = inspector.window.parts.detail
    for index in range(inspector.features.stream.events.event_count):
        shown(inspector, index, qtbot)
        for tab in range(detail.tabs.count()):
            detail.tabs.setCurrentIndex(tab)
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
    assert no_connections == []
