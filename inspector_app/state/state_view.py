"""The state at the selected event, in four lanes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QStackedLayout, QVBoxLayout, QWidget

from inspector_app.state.state_tree import StateByScope, StateTreeModel
from inspector_app.widgets import theme
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.value_tree_view import ValueTreeView
from runtime.sessions.state import Change

NO_STATE = ("No state to show", "Select an event to see what the agent knew then.")


class StateView(QWidget):
    """Shows a `StateTreeModel`, or says why there is none.

    Attributes:
        model: the lanes.
        tree: the view of them.
        search: what is looked for in them; hidden until somebody asks.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("state_view")
        self.model = StateTreeModel(self)
        self.tree = ValueTreeView(self.model)
        self.tree.setObjectName("state_tree")
        self.tree.setAccessibleName("State at the selected event")
        self._empty = EmptyState(*NO_STATE)
        self._empty.setProperty("card", "false")
        self.search = QLineEdit()
        self.search.setObjectName("state_search")
        self.search.setAccessibleName("Find in the state")
        self.search.setPlaceholderText("Find in keys and values")
        theme.make_clearable(self.search)
        self._finder = QWidget(self)
        inside = QVBoxLayout(self._finder)
        inside.setContentsMargins(6, 6, 6, 0)
        inside.addWidget(self.search)
        self._finder.hide()
        self.search.textChanged.connect(self.model.search)
        QShortcut(QKeySequence("Escape"), self.search, context=Qt.ShortcutContext.WidgetShortcut).activated.connect(self._end_search)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.tree)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._finder)
        column.addLayout(self._stack)

    def ask_search(self) -> None:
        """Ask what to look for in the state."""
        self._finder.show()
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _end_search(self) -> None:
        self.search.clear()
        self._finder.hide()
        self.tree.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_state(
        self,
        state: StateByScope | None,
        changes: Sequence[Change],
        title: str = "state",
        writers: Mapping[str, tuple[int, str]] | None = None,
        changed_since: Collection[str] = (),
    ) -> None:
        """Show the state at another moment; None: it is not known.

        Args:
            state, changes, title, writers, changed_since: as `StateTreeModel.set_state` takes them.
        """
        self.model.set_state(state, changes, title, writers, changed_since)
        self._stack.setCurrentWidget(self.tree if state is not None else self._empty)

    def set_empty_text(self, title: str, hint: str) -> None:
        """Say why there is no state."""
        self._empty.set_text(title, hint)
