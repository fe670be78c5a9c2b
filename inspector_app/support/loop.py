"""The asyncio event loop inside Qt's event loop. The only file that imports qasync."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any

import qasync
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication


class InspectorLoop(qasync.QEventLoop):  # type: ignore[misc]  # qasync has no type hints
    """qasync's loop, with two properties of asyncio's own loop.

    Abandoned async generators run their `finally` blocks to the end. All callbacks that are ready run in one turn, those that a timer woke
    included. qasync makes a Qt timer for each callback, so a task that slept would continue one turn later, after the window was painted.

    Args:
        app: the QApplication.
        already_running: Qt's loop is running, or other code runs it.
    """

    def __init__(self, app: QApplication, *, already_running: bool = False) -> None:
        self._ready: deque[asyncio.Handle] = deque()
        self._turn = QTimer()
        self._turn.setSingleShot(True)
        self._turn.timeout.connect(self._run_ready)
        super().__init__(app, already_running=already_running)

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Schedule a callback for the loop's next turn."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        if not self._turn.isActive():
            self._turn.start(0)
        return handle

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Schedule a callback in `delay` seconds."""
        if delay <= 0:
            return self.call_soon(callback, *args, context=context)
        handle: asyncio.Handle = super().call_later(delay, self._run_late, asyncio.Handle(callback, args, self, context))
        return handle

    def _run_late(self, handle: asyncio.Handle) -> None:
        handle._run()
        self._run_ready()

    def _run_ready(self) -> None:
        """Run the callbacks that are ready now. Those that they add wait for the next turn, so that the window is painted in between."""
        for _ in range(len(self._ready)):
            if not self._ready:
                return  # a nested loop of a dialog ran them
            handle = self._ready.popleft()
            if not handle.cancelled():
                handle._run()

    def _before_run_forever(self) -> None:
        super()._before_run_forever()
        self._outer_hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(firstiter=self._asyncgen_firstiter_hook, finalizer=self._asyncgen_finalizer_hook)

    def _after_run_forever(self) -> None:
        sys.set_asyncgen_hooks(*self._outer_hooks)
        super()._after_run_forever()
