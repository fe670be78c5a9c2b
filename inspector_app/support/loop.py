"""The asyncio loop that turns inside Qt's; the only file that knows qasync."""

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
    """qasync's loop, with two things that asyncio's own does.

    Abandoned async generators run their `finally` to its end. And all that is ready runs in one turn, what a timer woke included: qasync
    makes a timer of Qt's for each callback, so that a task which slept goes on a turn later, behind whatever the window paints in between.

    Args:
        app: the QApplication.
        already_running: Qt's loop runs, or is run by somebody else.
    """

    def __init__(self, app: QApplication, *, already_running: bool = False) -> None:
        self._ready: deque[asyncio.Handle] = deque()
        self._turn = QTimer()
        self._turn.setSingleShot(True)
        self._turn.timeout.connect(self._run_ready)
        super().__init__(app, already_running=already_running)

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Call something in the loop's next turn."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        if not self._turn.isActive():
            self._turn.start(0)
        return handle

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Call something when `delay` seconds have passed."""
        if delay <= 0:
            return self.call_soon(callback, *args, context=context)
        handle: asyncio.Handle = super().call_later(delay, self._run_late, asyncio.Handle(callback, args, self, context))
        return handle

    def _run_late(self, handle: asyncio.Handle) -> None:
        handle._run()
        self._run_ready()

    def _run_ready(self) -> None:
        """Run what is ready by now; what that makes ready waits for the next turn, or the window would never have one."""
        for _ in range(len(self._ready)):
            if not self._ready:
                return  # a dialog had a loop of its own in between, and ran them
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
