"""The state after the selected event, in four lanes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QStackedLayout, QVBoxLayout, QWidget

from inspector_app.state.state_tree import StateByScope, StateTreeModel
from inspector_app.widgets import theme
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.value_tree_view import ValueTreeView
from runtime.sessions.state import Change

NO_STATE = ("No state to show", "Select an event to see the state after it.")


class StateView(QWidget):
    """A view of a `StateTreeModel`, or a text if there is no state.

    Attributes:
        model: the state.
        tree: the view of the state.
        search: search field; hidden until `ask_search`.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("state_view")
        self.model = StateTreeModel(self)
        self.tree = named(ValueTreeView(self.model), "state_tree", "State at the selected event")
        self._empty = EmptyState(*NO_STATE)
        self._empty.setProperty("card", "false")
        self.search = named(QLineEdit(placeholderText="Find in keys and values"), "state_search", "Find in the state")
        theme.make_clearable(self.search)
        self._finder = QWidget(self)
        laid_out(QVBoxLayout(self._finder), self.search, margins=(6, 6, 6, 0))
        self._finder.hide()
        self.search.textChanged.connect(self.model.search)
        QShortcut(QKeySequence("Escape"), self.search, context=Qt.ShortcutContext.WidgetShortcut).activated.connect(self._end_search)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.tree)
        laid_out(QVBoxLayout(self), self._finder, self._stack, margins=0, spacing=0)

    def ask_search(self) -> None:
        """Show and focus the search field."""
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
        title: str = "State",
        writers: Mapping[str, tuple[int, str]] | None = None,
        changed_since: Collection[str] = (),
        *,
        unread: bool = False,
    ) -> None:
        """Show the state after another event.

        Args:
            state, changes, title, writers, changed_since, unread: as in `StateTreeModel.set_state`. Without a state, the empty text is
                shown.
        """
        self.model.set_state(state, changes, title, writers, changed_since, unread=unread)
        self._stack.setCurrentWidget(self.tree if state is not None else self._empty)

    def set_empty_text(self, title: str, hint: str) -> None:
        """Set the text shown without a state."""
        self._empty.set_text(title, hint)
