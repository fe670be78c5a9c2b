"""An error while an error is shown is printed once on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from inspector_app.presentation.message import Message
from inspector_app.shell.crash import CrashHooks
from inspector_app.workspace.messages import MessageBus


@pytest.fixture
def bus(qapp: QApplication) -> Iterator[MessageBus]:
    bus = MessageBus()
    hooks = CrashHooks(bus)
    before = sys.excepthook, sys.unraisablehook
    hooks.install()
    yield bus
    hooks.remove()
    sys.excepthook, sys.unraisablehook = before


def test_an_error_raised_while_showing_an_error_is_printed_not_shown(bus: MessageBus, capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[str] = []

    def show(message: Message) -> None:
        shown.append(message.text)
        assert len(shown) < 10, "endless recursion"
        raise RuntimeError("the view was deleted")

    bus.posted.connect(show)
    sys.excepthook(ValueError, ValueError("the first error"), None)
    assert shown == ["An action in the window failed: ValueError: the first error"]
    assert "the view was deleted" in capsys.readouterr().err
    sys.excepthook(ValueError, ValueError("the next one"), None)
    assert shown[1:] == ["An action in the window failed: ValueError: the next one"]
