"""An error while an error is shown is printed once on the terminal."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
import shiboken6
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


def test_an_error_after_the_bus_was_deleted_is_printed(bus: MessageBus, capsys: pytest.CaptureFixture[str]) -> None:
    shiboken6.delete(bus)
    sys.excepthook(ValueError, ValueError("the only error"), None)
    printed = capsys.readouterr().err
    assert "ValueError: the only error" in printed and "deleted" not in printed


def test_a_window_that_cannot_be_built_says_why() -> None:
    code = """
from inspector_app import app

def fail(*_):
    raise ValueError("no window today")

app.make_window = fail
app.save_screenshot([], "none.png")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("ValueError: no window today") == 1 and "deleted" not in done.stderr, done.stderr
