"""The breakpoints: a list, and a form that adds or changes one and validates while the user types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QSizePolicy,
    QSpinBox,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app.presentation.values import counted, ordinal, plain_tooltip, visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import set_tooltip
from runtime.expressions import ExpressionError, Template, parse

PLACES = {
    "event": "At an event",
    "before tool": "Before a tool call",
    "before model": "Before a model call",
    "error": "On an error",
}
_ID = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class BreakpointRow:
    """A breakpoint as plain data: the fields of `runtime.debugger.breakpoint.Breakpoint`, its problem, and its text."""

    id: int
    when: str
    condition: str
    tool: str
    enabled: bool
    after: int
    every: int
    log: str
    hits: int
    problem: str
    text: str


class BreakpointsPane(QWidget):
    """The form above the list of breakpoints.

    Attributes:
        form: adds or changes a breakpoint.
        list: the breakpoints.

    Signals:
        add_requested (dict): the user added a breakpoint with these fields.
        change_requested (int, dict): the user changed these fields of the breakpoint with this id.
        remove_requested (int): the user removed the breakpoint with this id.
    """

    add_requested = Signal(dict)
    change_requested = Signal(int, dict)
    remove_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("breakpoints_pane")
        self._rows: list[BreakpointRow] = []
        self._filling = False
        self.form = BreakpointForm(self)
        self.form.submitted.connect(self._on_submitted)
        self.list = _BreakpointList(self)
        self.list.itemChanged.connect(self._on_item_changed)
        self.list.itemActivated.connect(self._on_item_activated)
        self.list.remove_requested.connect(self.remove_requested)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(EmptyState("No breakpoints", "Write a condition above, or press F9 on an event."))
        self._stack.addWidget(self.list)
        self._stack.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)  # allows the height of an empty Pending pane
        laid_out(QVBoxLayout(self), self.form, (self._stack, 1), margins=(0, 4, 0, 0), spacing=6)

    @property
    def rows(self) -> list[BreakpointRow]:
        """The displayed breakpoints."""
        return list(self._rows)

    def set_rows(self, rows: list[BreakpointRow]) -> None:
        """Replace the breakpoints; keep the selection."""
        if rows == self._rows:
            return
        current = self.list.currentItem()
        kept = current.data(0, _ID) if current is not None else None
        place = self.list.currentIndex().row()
        self._filling = True
        self._rows = list(rows)
        self.list.clear()
        for row in rows:
            item = QTreeWidgetItem([visible(row.text), _does(row), f"{row.hits:,}"])
            item.setData(0, _ID, row.id)
            item.setCheckState(0, Qt.CheckState.Checked if row.enabled else Qt.CheckState.Unchecked)
            item.setIcon(0, theme.icon("circle" if not row.log else "comment-dots", "bad" if row.enabled else "dim"))
            item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setToolTip(0, plain_tooltip(row.problem or row.text))
            item.setFont(0, theme.mono_font())
            if row.problem:
                item.setForeground(0, theme.color("bad"))
            self.list.addTopLevelItem(item)
            if row.id == kept:
                self.list.setCurrentItem(item)
        if self.list.currentItem() is None and place >= 0:  # removed: select the one that follows it
            self.list.setCurrentIndex(self.list.model().index(min(place, len(rows) - 1), 0))
        self._filling = False
        self._stack.setCurrentIndex(1 if rows else 0)

    def _on_submitted(self, number: int, fields: dict[str, Any]) -> None:
        if number:
            self.change_requested.emit(number, fields)
        else:
            self.add_requested.emit(fields)

    def _on_item_changed(self, item: QTreeWidgetItem, _column: int) -> None:
        if not self._filling:
            self.change_requested.emit(item.data(0, _ID), {"enabled": item.checkState(0) == Qt.CheckState.Checked})

    def _on_item_activated(self, item: QTreeWidgetItem) -> None:
        row = next((row for row in self._rows if row.id == item.data(0, _ID)), None)
        if row is not None:
            self.form.edit(row)


class _BreakpointList(QTreeWidget):
    """The list: Space enables or disables, Enter edits, Delete removes.

    Signals:
        remove_requested (int): the user removed the breakpoint with this id.
    """

    remove_requested = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        named(self, "breakpoint_list", "Breakpoints")
        self.setHeaderLabels(["Breakpoint", "What it does", "Hits"])
        self.headerItem().setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        theme.keep_icon_size(self, 11)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remove the current breakpoint with Delete or Backspace."""
        item = self.currentItem()
        if item is not None and event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_requested.emit(item.data(0, _ID))
        else:
            super().keyPressEvent(event)


class _HitsBox(QSpinBox):
    """A number of hits, as wide at any size of text as the sentence for its least value."""

    def sizeHint(self) -> QSize:
        """Return the size; larger numbers scroll."""
        return QSize(theme.px(118), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the same size."""
        return self.sizeHint()


class BreakpointForm(QWidget):
    """A form in one line: place, condition, hits to skip, and a log message to write instead of stopping.

    Signals:
        submitted (int, dict): the user submitted the form: id of the changed breakpoint, or 0 for a new one, and its fields.
        help_requested: the user asked how conditions are written.
    """

    submitted = Signal(int, dict)
    help_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("breakpoint_form")
        self._number = 0
        self.when = named(QComboBox(self), "breakpoint_when", "Where to stop")
        set_tooltip(self.when, "Where to stop")  # Qt names a box without a label by its choice
        self.when.view().setObjectName("breakpoint_places")
        self.when.view().setAccessibleName("Where to stop")
        self.when.setMinimumWidth(90)
        self.when.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        for key, text in PLACES.items():
            self.when.addItem(text, key)
        self.tool = self._line("breakpoint_tool", "Only this tool", "any tool")
        self.tool.setMaximumWidth(120)
        self.condition = self._line("breakpoint_condition", "Condition", "")
        theme.use_mono(self.condition)
        self.after = self._spin("breakpoint_after", "Hits to skip", "Number of hits to skip before the first stop", 0)
        self.after.setPrefix("skip ")
        self.after.setSuffix(" hits")
        self.after.setSpecialValueText("skip none")
        self.every = self._spin("breakpoint_every", "Stop on every n-th hit", "After the skipped hits, stop on every n-th hit", 1)
        self.every.setPrefix("1 in ")
        self.every.setSuffix(" hits")
        self.every.setSpecialValueText("every hit")
        self._help = push_button("", "breakpoint_help", self.help_requested.emit, icon=theme.icon("circle-question", "text"), parent=self)
        self._help.setAccessibleName("How conditions are written")
        self._help.setToolTip("How conditions are written: examples, names, grammar (F1)")
        self.log = self._line("breakpoint_log", "Log instead of stopping", "log this, do not stop: {author} {delta}")
        self._submit = push_button("Add", "breakpoint_add", self._on_submit, icon=theme.icon("plus", "text"), parent=self)
        self._cancel = push_button("Cancel", "breakpoint_cancel", self.clear, icon=theme.icon("xmark", "text"), parent=self)
        self._hint = ""
        self._hint_for: Callable[[str, str], str] = lambda condition, tool: ""
        self._problem = plain_label(name="breakpoint_problem", role="bad", parent=self)
        self._problem.setWordWrap(True)  # a wrong name is answered with all names
        line = laid_out(
            QHBoxLayout(),
            self.when,
            self.tool,
            (self.condition, 3),
            self._help,
            self.after,
            self.every,
            (self.log, 2),
            self._submit,
            self._cancel,
            spacing=6,
        )
        laid_out(QVBoxLayout(self), line, self._problem, margins=0, spacing=2)
        self.when.currentIndexChanged.connect(self._show)
        for field in (self.tool, self.condition, self.log):
            field.textChanged.connect(self._show)
        self._show()

    @property
    def problem(self) -> str:
        """Why the form cannot be submitted; empty if it can."""
        return "" if self._hint else self._problem.text()

    @property
    def hint(self) -> str:
        """A warning about a valid condition; empty if there is none."""
        return self._hint

    def set_hints(self, hint_for: Callable[[str, str], str]) -> None:
        """Set the function that warns about valid conditions.

        Args:
            hint_for: (condition, tool) → a sentence, or an empty string.
        """
        self._hint_for = hint_for

    def propose(self, condition: str) -> None:
        """Clear the form and put a condition into it; Enter adds it."""
        self.clear()
        self.condition.setText(condition)
        self.condition.setFocus()
        self.condition.selectAll()

    def edit(self, row: BreakpointRow) -> None:
        """Fill the form with a breakpoint to change."""
        self._number = row.id
        self.when.setCurrentIndex(self.when.findData(row.when))
        self.tool.setText(row.tool)
        self.condition.setText(row.condition)
        self.after.setValue(row.after)
        self.every.setValue(row.every)
        self.log.setText(row.log)
        self._show()
        self.condition.setFocus()

    def clear(self) -> None:
        """Clear the form; it then adds a new breakpoint."""
        self._number = 0
        self.when.setCurrentIndex(0)
        self.after.setValue(0)
        self.every.setValue(1)
        for line in (self.tool, self.condition, self.log):
            line.clear()
        self._show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Cancel the change of a breakpoint with Esc."""
        if event.key() == Qt.Key.Key_Escape and self._number:
            self.clear()
        else:
            super().keyPressEvent(event)

    def _fields(self) -> dict[str, Any]:
        when = self.when.currentData()
        return {
            "when": when,
            "condition": self.condition.text().strip(),
            "tool": self.tool.text().strip() if when == "before tool" else "",
            "after": self.after.value(),
            "every": self.every.value(),
            "log": self.log.text().strip(),
        }

    def _show(self) -> None:
        when = self.when.currentData()
        self.tool.setVisible(when == "before tool")
        examples = {"event": 'state["cart"] changed', "before tool": "call.pay.args.amount > 100"}
        self.condition.setPlaceholderText(f"condition, such as {examples[when]}" if when in examples else "condition, or empty for always")
        problems = [self._check(self.condition, parse), self._check(self.log, Template)]
        problem = next(filter(None, problems), "")
        tool = self.tool.text().strip() if when == "before tool" else ""
        self._hint = "" if problem else self._hint_for(self.condition.text().strip(), tool)
        role = "bad" if problem else "warn"
        if self._problem.property("role") != role:
            self._problem.setProperty("role", role)
            theme.restyle(self._problem)
        said = problem or (self._hint and f"Is this intended? {self._hint}")
        self._problem.setText(visible(said))
        self._problem.setVisible(bool(said))
        empty = when == "event" and not self.condition.text().strip() and not self._number
        self._submit.setText("Save" if self._number else "Add")
        self._submit.setAccessibleName(f"{self._submit.text()} the breakpoint")
        self._submit.setEnabled(not problem and not empty)
        set_tooltip(self._submit, problem or ("Write a condition first" if empty else f"{self._submit.text()} (Enter)"))
        self._cancel.setVisible(bool(self._number))

    @staticmethod
    def _check(line: QLineEdit, read: Any) -> str:
        text = line.text().strip()
        problem = ""
        if text:
            try:
                read(line.text())
            except ExpressionError as error:
                problem = str(error)
        state = ("wrong" if problem else "good") if text else ""
        if line.property("state") != state:
            line.setProperty("state", state)
            theme.restyle(line)
        set_tooltip(line, problem)
        return problem

    def _on_submit(self) -> None:
        if self._submit.isEnabled():
            number, fields = self._number, self._fields()
            self.clear()
            self.submitted.emit(number, fields)

    def _line(self, name: str, title: str, placeholder: str) -> QLineEdit:
        line = named(QLineEdit(self, placeholderText=placeholder), name, title)
        line.setMinimumWidth(60)
        line.returnPressed.connect(self._on_submit)
        return line

    def _spin(self, name: str, title: str, tooltip: str, least: int) -> QSpinBox:
        spin = named(_HitsBox(self), name, title)
        spin.setToolTip(tooltip)
        spin.setRange(least, 1_000_000)
        spin.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.pad(spin)
        return spin


def _does(row: BreakpointRow) -> str:
    what = "logs" if row.log else "stops"
    skips = f" after {counted(row.after, 'hit')}" if row.after else ""
    every = f"{',' if skips else ''} on every {ordinal(row.every)} hit" if row.every > 1 else ""
    return f"{what}{skips}{every}{f': {visible(row.log)}' if row.log else ''}"
