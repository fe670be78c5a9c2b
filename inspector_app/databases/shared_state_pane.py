"""The user and app state of a database, independent of the displayed session: a list of apps and users, and the state of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QListView, QSplitter, QStackedLayout, QVBoxLayout, QWidget

from inspector_app.databases.scope_list import Scope, ScopeListModel, scope_text
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.value_tree import ValueTreeModel
from inspector_app.widgets.value_tree_view import ValueTreeView


class SharedStatePane(QWidget):
    """A list of apps and users, and the state of the chosen one.

    Attributes:
        filter: filters the list.
        model, scopes: the apps and users, and the view of them.
        values, tree: the state of one, and the view of it.

    Signals:
        scope_chosen (Scope): the user chose this app or user.
    """

    scope_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shared_state_pane")
        self.filter = named(QLineEdit(placeholderText="Filter apps and users"), "scope_filter", "Filter apps and users")
        theme.make_clearable(self.filter)
        self.model = ScopeListModel(self)
        self._none = plain_label(name="no_scopes", role="secondary", wraps=True)
        self._none.hide()
        self.scopes = self._make_list()
        self.values = ValueTreeModel(self)
        self.tree = named(ValueTreeView(self.values), "shared_state_tree", "State of the app or user")
        self._title = named(ElidedLabel(), "shared_state_title")
        self._title.setProperty("role", "title")
        self._facts = plain_label(name="shared_state_facts", role="secondary")
        self._empty = EmptyState()
        self._empty.setProperty("card", "false")
        self._stack = QStackedLayout()
        for page in (self._empty, self.tree):
            self._stack.addWidget(page)
        split = named(QSplitter(self, childrenCollapsible=False), "shared_state_splitter")
        split.addWidget(_column(self.filter, self._none, self.scopes))
        split.addWidget(self._right())
        split.setSizes([190, 460])
        split.setStretchFactor(1, 1)
        laid_out(QVBoxLayout(self), split, margins=0)
        self._chosen: Scope | None = None
        self._sought = False
        self.scopes.verticalScrollBar().rangeChanged.connect(self._on_laid_out, Qt.ConnectionType.QueuedConnection)
        self.filter.textChanged.connect(self._on_filter_changed)
        self.scopes.selectionModel().currentChanged.connect(self._on_current_changed)

    @property
    def title(self) -> str:
        """The app or user whose state is shown."""
        return self._title.text()

    @property
    def facts(self) -> str:
        """Further facts about the shown state."""
        return self._facts.text()

    def set_scopes(self, scopes: Sequence[Scope]) -> None:
        """Replace the list of apps and users."""
        self.model.set_scopes(scopes)
        self._say_why_none()
        self._select()

    def choose(self, scope: Scope) -> None:
        """Select an app or user if it is in the list; does not emit `scope_chosen`."""
        self._chosen = scope
        if self.filter.text() and not self.model.index_of(scope).isValid():
            self.filter.clear()
        self._select()

    def show_state(self, scope: Scope, values: Mapping[str, Any], facts: str) -> None:
        """Show the state of an app or user.

        Args:
            scope: the app or user.
            values: key with prefix → value.
            facts: for example when the state was last written.
        """
        self._title.setText(visible(scope_text(scope)))
        self._facts.setText(facts)
        self.values.set_values(dict(sorted(values.items())), ("Key", "Value"))
        self._stack.setCurrentWidget(self.tree)
        if not values:
            prefix = "app:" if scope.user_id is None else "user:"
            self.say("No state is stored here", f"Agents write keys that begin with {prefix} for all sessions of this {_kind(scope)}.")

    def say(self, title: str, hint: str = "") -> None:
        """Show a text instead of state."""
        self._empty.set_text(title, hint)
        self._stack.setCurrentWidget(self._empty)

    def _make_list(self) -> QListView:
        scopes = named(QListView(), "scope_list", "Apps and users with stored state")
        scopes.setModel(self.model)
        scopes.setUniformItemSizes(True)
        scopes.setLayoutMode(QListView.LayoutMode.Batched)  # laying out 100,000 users at once would freeze the window
        scopes.setBatchSize(500)
        theme.keep_icon_size(scopes, 13)
        scopes.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        scopes.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scopes.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        return scopes

    def _right(self) -> QWidget:
        part = QWidget()
        part.setProperty("card", "true")
        head = laid_out(QVBoxLayout(), margins=(8, 0, 8, 0), spacing=2)
        for label in (self._title, self._facts):
            head.addWidget(label)
        laid_out(QVBoxLayout(part), head, (self._stack, 1), margins=(1, 6, 1, 1), spacing=4)
        return part

    def _select(self) -> None:
        index = self.model.index_of(self._chosen) if self._chosen is not None else QModelIndex()
        if index.isValid():
            self.scopes.setCurrentIndex(index)
            self._sought = True
            self._on_laid_out()

    def _on_laid_out(self) -> None:
        """Scroll to the selected row; in a long list, its position is known only after a layout pass."""
        if self._sought:
            row = self.scopes.currentIndex()
            self.scopes.scrollTo(row)
            self._sought = not self.scopes.viewport().rect().intersects(self.scopes.visualRect(row))

    def _on_filter_changed(self, text: str) -> None:
        self.model.set_filter(text)
        self._say_why_none()
        self._select()

    def _say_why_none(self) -> None:
        self._none.setText("No app or user matches." if self.filter.text().strip() else "No app or user has stored state.")
        self._none.setVisible(self.model.rowCount() == 0)

    def _on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        scope = self.model.scope(current)
        if scope is not None and scope != self._chosen:
            self._chosen = scope
            self.scope_chosen.emit(scope)


def _kind(scope: Scope) -> str:
    return "app" if scope.user_id is None else "user"


def _column(*widgets: QWidget) -> QWidget:
    part = QWidget()
    laid_out(QVBoxLayout(part), *widgets, margins=0, spacing=6)
    return part
