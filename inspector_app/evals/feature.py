"""The door of evals and of repeated runs."""

from __future__ import annotations

from inspector_app.evals.eval_controller import EvalController
from inspector_app.evals.eval_page import EvalPage
from inspector_app.evals.repeat_controller import RepeatController
from inspector_app.evals.repeat_page import RepeatPage
from inspector_app.widgets.places import Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class Evals(Feature):
    """Two pages: the cases of an eval set, and runs side by side.

    Attributes:
        page: the page of evals.
        evals, repeats: the controllers; exist once started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self._repeat_page = places.page("repeats", RepeatPage())
        self.page = places.page("evals", EvalPage())
        self._run_again = places.command("run_again", "Run again several times…", "repeat", menu="Run", at=32)
        self._repeated_runs = places.command("repeated_runs", "Runs side by side", "table-list", menu="Run", at=33)
        self._evals = places.command("evals", "Evals", "list-check", menu="Run", at=34)
        self._repeated_runs.triggered.connect(self._on_repeats_opened)
        self._evals.triggered.connect(self._on_evals_opened)

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        places = self.places
        self.repeats = RepeatController(work, self._repeat_page)
        self.evals = EvalController(work, self.page)
        self._run_again.triggered.connect(self.repeats.ask_for_selected)
        self.repeats.opened.connect(self._on_repeats_opened)
        self.evals.opened.connect(self._on_evals_opened)
        for left in (self.repeats.left, self.evals.left):
            left.connect(places.workbench_requested)

    def _on_repeats_opened(self) -> None:
        self.places.page_requested.emit(self._repeat_page)

    def _on_evals_opened(self) -> None:
        self.places.page_requested.emit(self.page)
