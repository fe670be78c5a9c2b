"""Several runs of the same messages, grouped by the path that the agent took."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStackedLayout, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from inspector_app.analysis.repeats import PathGroup, RunFacts
from inspector_app.evals.results_head import ResultsHead
from inspector_app.presentation.costs import CostSum, cost_text
from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.signs import SIGNS
from inspector_app.presentation.values import duration, plain_tooltip, visible
from inspector_app.widgets import theme
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import card, laid_out, named
from runtime.history.invocations import word_for

COLUMNS = ("Path and session", "Status", "Time", "Tokens", "Cost", "Answer")
_NUMBERS = (2, 3, 4)
_RUN = Qt.ItemDataRole.UserRole


class RepeatPage(QWidget):
    """A view of the runs. Double-click or Enter opens one; two selected ones can be compared.

    Attributes:
        head: the title, the progress and the buttons.
        tree: the groups and their runs.

    Signals:
        open_requested(SessionKey): the user wants to see a run.
        compare_requested(SessionKey, SessionKey): the user wants to compare two runs.
        again_requested: the user wants to run the same again.
    """

    open_requested = Signal(object)
    compare_requested = Signal(object, object)
    again_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("repeat_page")
        self.head = ResultsHead("repeat", self)
        self.open_button = self.head.button("open", "arrow-right-to-bracket", "Open")
        self.compare_button = self.head.button("compare", "code-compare", "Compare")
        self.again_button = self.head.button("again", "rotate", "Run again…")
        self.head.add(self.open_button, self.compare_button, self.again_button)
        self.head.leave_with_escape(self)
        self.tree = self._make_tree()
        self._empty = EmptyState("Nothing was run several times", "Choose Run again several times… in a session's menu.")
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.tree)
        laid_out(QVBoxLayout(self), self.head, (card(self._stack), 1), margins=(0, 6, 0, 6), spacing=6)
        self.open_button.clicked.connect(self._on_open)
        self.compare_button.clicked.connect(self._on_compare)
        self.again_button.clicked.connect(self.again_requested)
        self.show_runs([])

    @property
    def selected(self) -> list[RunFacts]:
        """The selected runs, from the top."""
        runs = [item.data(0, _RUN) for item in self._items() if item.isSelected()]
        return [run for run in runs if run is not None]

    def focus(self) -> None:
        """Give the runs the keyboard; without runs the button that leaves."""
        (self.tree if self.tree.isVisible() else self.head.close_button).setFocus(Qt.FocusReason.OtherFocusReason)

    def rows(self) -> list[tuple[str, ...]]:
        """Return the texts of all rows, from the top."""
        return [tuple(item.text(column) for column in range(len(COLUMNS))) for item in self._items()]

    def say(self, title: str, hint: str) -> None:
        """Show a text in place of the runs, while there are none."""
        self._empty.set_text(title, hint)

    def show_runs(self, groups: Sequence[PathGroup]) -> None:
        """Show runs; those that were selected stay so.

        Args:
            groups: the runs, grouped, in the order to show.
        """
        kept = {run.key for run in self.selected}
        self.tree.clear()
        for group in groups:
            top = _group_item(group)
            self.tree.addTopLevelItem(top)
            top.setExpanded(True)
            top.setFlags(Qt.ItemFlag.ItemIsEnabled)
            for run in group.runs:
                item = _run_item(run)
                top.addChild(item)
                item.setSelected(run.key in kept)
        self._stack.setCurrentWidget(self.tree if groups else self._empty)
        self.again_button.setEnabled(bool(groups))
        self._on_selection_changed()

    def _make_tree(self) -> QTreeWidget:
        tree = named(QTreeWidget(self), "repeat_runs", "Runs, grouped by path")
        tree.setHeaderLabels(list(COLUMNS))
        tree.setUniformRowHeights(True)
        theme.keep_icon_size(tree, 14)
        tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        tree.setProperty("bare", "true")
        header = tree.header()
        for column in range(len(COLUMNS) - 1):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        header.setMaximumSectionSize(520)
        header.setStretchLastSection(True)
        for column in _NUMBERS:
            tree.headerItem().setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        tree.itemSelectionChanged.connect(self._on_selection_changed)
        tree.itemActivated.connect(self._on_activated)
        return tree

    def _items(self) -> list[QTreeWidgetItem]:
        tops = (self.tree.topLevelItem(row) for row in range(self.tree.topLevelItemCount()))
        return [item for top in tops if top is not None for item in (top, *map(top.child, range(top.childCount()))) if item is not None]

    def _on_selection_changed(self) -> None:
        count = len(self.selected)
        self.open_button.setEnabled(count == 1)
        self.open_button.setToolTip("" if count == 1 else "Select one run.")
        self.compare_button.setEnabled(count == 2)
        self.compare_button.setToolTip("" if count == 2 else "Select two runs with Ctrl and a click.")

    def _on_activated(self, item: QTreeWidgetItem, _column: int) -> None:
        run: RunFacts | None = item.data(0, _RUN)
        if run is not None:
            self.open_requested.emit(run.key)

    def _on_open(self) -> None:
        if len(self.selected) == 1:
            self.open_requested.emit(self.selected[0].key)

    def _on_compare(self) -> None:
        if len(self.selected) == 2:
            one, other = self.selected
            self.compare_requested.emit(one.key, other.key)


def _group_item(group: PathGroup) -> QTreeWidgetItem:
    path = " · ".join(group.path) or "no tools"
    count = len(group.runs)
    time = duration(group.seconds)
    cells = [f"{path}  ({count}×)", "", time if count == 1 else f"{time} on average", *_spent(group.cost), ""]
    item = QTreeWidgetItem([visible(cell) for cell in cells])
    bold = QFont()
    bold.setBold(True)
    item.setFont(0, bold)
    item.setToolTip(0, plain_tooltip(f"{path}: {count} of the runs"))
    _align(item)
    return item


def _run_item(run: RunFacts) -> QTreeWidgetItem:
    said = (run.error or run.answer)[:300].replace("\n", " ")
    cells = [short_id(run.key.session_id), word_for(run.status), duration(run.seconds), *_spent(run.cost), said]
    item = QTreeWidgetItem([visible(cell) for cell in cells])
    item.setIcon(1, theme.icon(*SIGNS[word_for(run.status)][:2]))
    item.setToolTip(0, plain_tooltip(run.key.session_id))
    item.setToolTip(5, plain_tooltip(run.error or run.answer))
    item.setData(0, _RUN, run)
    _align(item)
    return item


def _spent(cost: CostSum) -> tuple[str, str]:
    tokens = cost.tokens.input + cost.tokens.output
    return (f"{tokens:,}", cost_text(cost)) if cost.calls else ("–", "–")


def _align(item: QTreeWidgetItem) -> None:
    for column in _NUMBERS:
        item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
