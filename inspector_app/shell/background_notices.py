"""Notices about a run while another window is active."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from inspector_app.shell.desktop_notice import DesktopNotice
from inspector_app.shell.main_window import MainWindow
from inspector_app.workspace.current_run import CurrentRun, RunEnd
from inspector_app.workspace.session_catalog import SessionCatalog
from inspector_app.workspace.session_titles import SessionTitles
from runtime.debugger.hold import Hold

_LONGEST = 200  # characters of a notification; desktops show two or three lines


class BackgroundNotices(QObject):
    """Notifies the desktop when a run is held, waits for a person or fails while the window is in the background.

    Signals:
        noticed(str, str): the title and the text of a notification.

    Args:
        run: the run.
        catalog: knows what a session waits for.
        titles: of the sessions.
        window: the window.
    """

    noticed = Signal(str, str)

    def __init__(
        self, run: CurrentRun, catalog: SessionCatalog, titles: SessionTitles, window: MainWindow, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._catalog = catalog
        self._titles = titles
        self._window = window
        self.noticed.connect(DesktopNotice(window, self).show_text)
        run.hold_changed.connect(self._on_hold_changed)
        run.run_ended.connect(self._on_run_ended)

    def _on_hold_changed(self, hold: Hold | None) -> None:
        if hold is not None:
            self._notify("The agent is held", hold.text)

    def _on_run_ended(self, end: RunEnd) -> None:
        session = self._titles.title(end.address)
        if end.error is not None:
            self._notify("The run failed", f"{session}: {end.error}")
        elif not end.stopped and self._catalog.mark(end.address) in ("confirmation", "long_running", "credential"):
            self._notify("The agent waits for an answer", f"{session}: see Pending.")

    def _notify(self, title: str, text: str) -> None:
        if not self._window.isActiveWindow():
            self.noticed.emit(title, text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
