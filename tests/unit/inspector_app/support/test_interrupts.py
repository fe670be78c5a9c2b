"""Ctrl-C in Qt's loop, where asyncio's loop handles no signals, as on Windows."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from inspector_app.support.interrupts import Interrupts, call_on_interrupt
from inspector_app.support.loop import InspectorLoop

MILLISECONDS = 10_000  # never reached: Qt ends the loop then, as pytest's own limit needs Python code that runs


def interrupt(number: int) -> None:
    if hasattr(os, "kill") and os.name != "nt":
        os.kill(os.getpid(), number)
    else:
        signal.raise_signal(number)


def run_until(start: Callable[[Callable[[], object]], None], number: int) -> None:
    """Run an idle loop of Qt until a signal ends it. No Python code runs in it until then."""
    idle = QEventLoop()
    called = []

    def end() -> None:
        called.append(True)
        idle.quit()

    start(end)
    deadline = QTimer()
    deadline.timeout.connect(idle.quit)
    deadline.start(MILLISECONDS)
    sender = threading.Thread(target=interrupt, args=(number,))
    sender.start()
    idle.exec()
    sender.join()
    assert called


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_wakes_an_idle_loop(qapp: QApplication, number: int) -> None:
    before = (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))
    started: list[Interrupts] = []
    run_until(lambda callback: started.append(Interrupts(callback)), number)
    started[0].close()
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_it_is_used_where_asyncio_handles_no_signals(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_here(self: InspectorLoop, number: int, callback: object) -> None:
        raise NotImplementedError

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(InspectorLoop, "add_signal_handler", not_here)
    loop = InspectorLoop(qapp)
    started: list[Interrupts | None] = []
    run_until(lambda callback: started.append(call_on_interrupt(loop, callback)), signal.SIGINT)
    assert started[0] is not None
    started[0].close()
    loop.close()
    assert signal.getsignal(signal.SIGINT) == before
