"""The figures by which the session list is sorted and filtered."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.documents.sources import Source
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.sessions.sessions_pane import SessionsPane
from inspector_app.workspace.session_catalog import SessionCatalog
from inspector_app.workspace.session_sums import SessionSums


class FiguresController(QObject):
    """A controller that has sessions' events read when the order or the filter of the list needs it.

    Args:
        catalog: the sessions.
        sums: reads the figures.
        model: the model behind the list.
        pane: the list.
    """

    def __init__(self, catalog: SessionCatalog, sums: SessionSums, model: SessionTreeModel, pane: SessionsPane) -> None:
        super().__init__(pane)
        self._sums = sums
        self._model = model
        self._pane = pane
        catalog.listed.connect(self._on_listed)
        sums.changed.connect(self._show)
        sums.progressed.connect(pane.show_reading)
        model.figures_wanted.connect(self._on_wanted)
        model.filter_read.connect(pane.show_problem)
        pane.reading_stopped.connect(self._on_stopped)

    def _show(self, target: str) -> None:
        self._model.set_figures(target, self._sums.of_database(target))

    def _on_listed(self, source: Source, _sessions: object) -> None:
        self._show(source.target)

    def _on_wanted(self, wanted: bool) -> None:
        self._sums.want(wanted)
        self._pane.show_problem("")

    def _on_stopped(self) -> None:
        self._sums.want(False)
        self._pane.show_stopped()
