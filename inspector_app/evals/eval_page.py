"""An eval set: its cases with their scores, and the selected case beside what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSplitter,
    QStackedLayout,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app.analysis.evals import CaseResult, Score
from inspector_app.evals.case_rows import case_rows
from inspector_app.evals.case_table import CaseTable
from inspector_app.evals.results_head import ResultsHead
from inspector_app.exchange.eval_sets import EvalCase
from inspector_app.presentation.values import plain_tooltip, visible
from inspector_app.widgets import theme
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import card, laid_out, named

_SIGNS = {
    "passed": ("circle-check", "ok"),
    "failed": ("circle-xmark", "bad"),
    "not evaluated": ("circle-question", "warn"),
    "running…": ("spinner", "accent"),
    "not run": ("circle", "dim"),
}
_NOT_RUN, _RUNNING = "not run", "running…"


class EvalPage(QWidget):
    """A list of cases above the steps of the selected one.

    Attributes:
        head: the title, the progress and the buttons.
        cases: the list.
        steps: the steps of the selected case.

    Signals:
        set_requested: the user wants to open an eval set.
        agent_requested: the user wants to open the agent to evaluate.
        run_requested(list[str]): the user wants to run these cases, by their ids.
        session_requested(str): the user wants to see the session of a case.
        compare_requested(str): the user wants to compare a case's session with what was expected.
    """

    set_requested = Signal()
    agent_requested = Signal()
    run_requested = Signal(list)
    session_requested = Signal(str)
    compare_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("eval_page")
        self._cases: list[EvalCase] = []
        self._results: dict[str, CaseResult] = {}
        self._running = ""
        self._blocked = ""
        self._metrics: list[str] = []
        self.head = ResultsHead("eval", self)
        self.run_all_button = self.head.button("run_all", "play", "Run all", "on_accent")
        self.run_all_button.setProperty("primary", True)
        self.run_one_button = self.head.button("run_one", "play", "Run the case")
        self.session_button = self.head.button("session", "arrow-right-to-bracket", "Open its session")
        self.compare_button = self.head.button("compare", "code-compare", "Compare")
        self.agent_button = self.head.button("agent", "robot", "Open agent…")
        self.open_button = self.head.button("open", "folder-open", "Open…")
        self.head.add(
            self.run_all_button, self.run_one_button, self.session_button, self.compare_button, self.agent_button, self.open_button
        )
        self.head.leave_with_escape(self)
        self.cases = self._make_list()
        self.steps = CaseTable()
        self._empty = EmptyState(
            "No eval set is open", "Drop an *.evalset.json or *.test.json on the window, or open one. A session becomes a case in its menu."
        )
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._make_split())
        laid_out(QVBoxLayout(self), self.head, (self._stack, 1), margins=(0, 6, 0, 6), spacing=6)
        self._connect_buttons()
        self.show_set([], [])

    @property
    def selected(self) -> str:
        """The id of the selected case; empty for none."""
        item = self.cases.currentItem()
        return str(item.data(0, Qt.ItemDataRole.UserRole)) if item is not None else ""

    def rows(self) -> list[tuple[str, ...]]:
        """Return the texts of the list's rows."""
        items = (self.cases.topLevelItem(row) for row in range(self.cases.topLevelItemCount()))
        return [tuple(item.text(column) for column in range(self.cases.columnCount())) for item in items if item is not None]

    def select(self, case_id: str) -> None:
        """Select a case."""
        ids = [case.id for case in self._cases]
        item = self.cases.topLevelItem(ids.index(case_id)) if case_id in ids else None
        if item is not None:
            self.cases.setCurrentItem(item)

    def focus(self) -> None:
        """Give the cases the keyboard; without cases the button that opens a set."""
        (self.cases if self._cases else self.open_button).setFocus(Qt.FocusReason.OtherFocusReason)

    def show_set(self, cases: Sequence[EvalCase], metrics: Sequence[str]) -> None:
        """Show cases that were not run.

        Args:
            cases: the cases.
            metrics: what is measured, in the order of the columns.
        """
        before = self.selected
        self._cases, self._metrics, self._results, self._running = list(cases), list(metrics), {}, ""
        self.cases.clear()
        self.cases.setColumnCount(len(metrics) + 3)
        self.cases.setHeaderLabels(["Case", "Status", *metrics, "Message"])
        header = self.cases.header()
        for column in range(len(metrics) + 2):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        for case in cases:
            item = QTreeWidgetItem()
            item.setData(0, Qt.ItemDataRole.UserRole, case.id)
            self.cases.addTopLevelItem(item)
            self._fill(case.id)
        self._stack.setCurrentIndex(1 if cases else 0)
        self.select(before or (cases[0].id if cases else ""))
        self._show_selected()

    def show_running(self, case_id: str) -> None:
        """Mark the case that is being run; an empty id for none."""
        before, self._running = self._running, case_id
        for each in (before, case_id):
            self._fill(each)
        self._show_buttons()

    def show_results(self, results: Mapping[str, CaseResult]) -> None:
        """Show how cases went.

        Args:
            results: case id → how it went.
        """
        self._results = dict(results)
        for case in self._cases:
            self._fill(case.id)
        self._show_selected()

    def set_blocked(self, reason: str, *, needs_agent: bool) -> None:
        """Say why no case can be run now.

        Args:
            reason: a sentence; empty if they can.
            needs_agent: whether an agent must be opened first.
        """
        self._blocked = reason
        self.agent_button.setVisible(needs_agent)
        for button in (self.session_button, self.compare_button):  # without an agent there are no sessions to open
            button.setVisible(not needs_agent)
        self._show_buttons()

    def _make_list(self) -> QTreeWidget:
        tree = named(QTreeWidget(self), "eval_cases", "Cases")
        tree.setRootIsDecorated(False)
        tree.setUniformRowHeights(True)
        theme.keep_icon_size(tree, 14)
        tree.setProperty("bare", "true")
        tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        tree.header().setStretchLastSection(True)
        tree.header().setMaximumSectionSize(420)
        tree.currentItemChanged.connect(self._on_current_changed)
        tree.itemActivated.connect(self._on_activated)
        return tree

    def _make_split(self) -> QSplitter:
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(card(self.cases))
        split.addWidget(card(self.steps))
        split.setSizes([360, 300])
        split.setChildrenCollapsible(False)
        return split

    def _connect_buttons(self) -> None:
        self.run_all_button.clicked.connect(self._on_run_all)
        self.run_one_button.clicked.connect(self._on_run_one)
        self.session_button.clicked.connect(self._on_session)
        self.compare_button.clicked.connect(self._on_compare)
        self.agent_button.clicked.connect(self.agent_requested)
        self.open_button.clicked.connect(self.set_requested)

    def _fill(self, case_id: str) -> None:
        """Write a case's row."""
        place = next((number for number, case in enumerate(self._cases) if case.id == case_id), None)
        item = self.cases.topLevelItem(place) if place is not None else None
        if item is None or place is None:
            return
        case, result = self._cases[place], self._results.get(case_id)
        status = _RUNNING if case_id == self._running else result.status if result is not None else _NOT_RUN
        scores = {score.metric: score for score in result.scores} if result is not None else {}
        message = case.turns[0].message if case.turns else None
        said = " ".join(part.text for part in (message.parts if message else None) or () if part.text)
        measured = [scores[metric].text if metric in scores else "" for metric in self._metrics]
        cells = [case.id, status, *measured, said[:300].replace("\n", " ")]
        for column, text in enumerate(cells):
            item.setText(column, visible(text))
            item.setToolTip(column, plain_tooltip(text))
        item.setIcon(1, theme.icon(*_SIGNS[status]))
        for column, metric in enumerate(self._metrics, 2):
            score = scores.get(metric)
            item.setForeground(column, theme.color("bad" if score is not None and score.status == "failed" else "text"))
            item.setToolTip(column, plain_tooltip(_score_words(metric, score)))

    def _show_selected(self) -> None:
        case = next((case for case in self._cases if case.id == self.selected), None)
        self.steps.show_steps(case_rows(case, self._results.get(case.id)) if case is not None else [])
        self._show_buttons()

    def _show_buttons(self) -> None:
        result = self._results.get(self.selected)
        reason = self._blocked or ("" if self._cases else "Open an eval set first.")
        for button in (self.run_all_button, self.run_one_button):
            button.setEnabled(not reason)
            button.setToolTip(reason)
        has_session = result is not None and result.key is not None
        for button in (self.session_button, self.compare_button):
            button.setEnabled(has_session)
            button.setToolTip("" if has_session else "Run the case first.")
        if has_session:
            self.compare_button.setToolTip("Its events beside those that were expected")

    def _on_current_changed(self, _item: object, _before: object = None) -> None:
        self._show_selected()

    def _on_activated(self, _item: object, _column: int = 0) -> None:
        result = self._results.get(self.selected)
        if result is not None and result.key is not None:
            self.compare_requested.emit(self.selected)

    def _on_run_all(self) -> None:
        self.run_requested.emit([case.id for case in self._cases])

    def _on_run_one(self) -> None:
        if self.selected:
            self.run_requested.emit([self.selected])

    def _on_session(self) -> None:
        self.session_requested.emit(self.selected)

    def _on_compare(self) -> None:
        self.compare_requested.emit(self.selected)


def _score_words(metric: str, score: Score | None) -> str:
    if score is None:
        return metric
    turns = ", ".join("–" if each is None else f"{each:.3f}" for each in score.turns)
    return f"{metric}: {score.status}" + (f"\n{score.note}" if score.note else "") + (f"\nby turn: {turns}" if turns else "")
