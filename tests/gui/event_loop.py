"""The application's event loop inside Qt's loop, which pytest-qt runs."""

from __future__ import annotations

import asyncio

from PySide6.QtWidgets import QApplication

from inspector_app.support.loop import InspectorLoop


class LoopOfTests(InspectorLoop):
    """One loop for all tests. asyncio and qasync have no public functions to share a loop that runs all the time.

    Args:
        app: the QApplication.
    """

    def __init__(self, app: QApplication) -> None:
        super().__init__(app, already_running=True)
        self.uninstall()

    def install(self) -> None:
        """Make this the running loop."""
        asyncio.events._set_running_loop(self)

    def uninstall(self) -> None:
        """Leave no running loop, so that other tests can start one."""
        asyncio.events._set_running_loop(None)

    def shut_down(self) -> None:
        """Close the loop and leave Qt's loop as it is."""
        self._after_run_forever()
        self._QEventLoop__is_running = False  # `stop` would quit Qt's loop
        self.close()
