"""The choice whether runs record their model requests beside the database."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.support.preferences import Preferences
from inspector_app.workspace.current_run import CurrentRun


class RecordingController(QObject):
    """A controller that applies and remembers the choice.

    Args:
        run: the runs of the window; the choice counts from the next one on.
        preferences: where the choice is kept.
    """

    def __init__(self, run: CurrentRun, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self._preferences = preferences
        run.records_requests = preferences.records_requests

    def choose(self, wanted: bool) -> None:
        """Record requests from the next run on, or stop recording them."""
        self._preferences.records_requests = self._run.records_requests = wanted
