"""A filtered list of apps and users with stored state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from inspector_app.presentation.values import plain_tooltip, visible
from inspector_app.widgets import theme

Index = QModelIndex | QPersistentModelIndex


class Scope(Protocol):
    """An app, or a user of an app."""

    @property
    def app_name(self) -> str: ...  # noqa: D102
    @property
    def user_id(self) -> str | None: ...  # noqa: D102


class ScopeListModel(QAbstractListModel):
    """A list of apps, each followed by its users."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: Sequence[Scope] = ()
        self._shown: Sequence[Scope] = ()
        self._words: list[str] = []

    def set_scopes(self, scopes: Sequence[Scope]) -> None:
        """Replace the list; each app comes before its users."""
        self._all = scopes
        self._rebuild()

    def set_filter(self, text: str) -> None:
        """Show only entries whose app or user contains every word of `text`, ignoring case."""
        self._words = text.casefold().split()
        self._rebuild()

    def scope(self, index: Index) -> Scope | None:
        """Return the entry at an index, or None."""
        return self._shown[index.row()] if index.isValid() else None

    def index_of(self, scope: Scope) -> QModelIndex:
        """Return the index of an entry; invalid if it is filtered out."""
        try:
            return self.index(self._shown.index(scope))
        except ValueError:
            return QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of entries shown."""
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return an entry's name, icon, tooltip or accessible text."""
        scope = self.scope(index)
        if scope is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return visible(scope.app_name) if scope.user_id is None else f"   {visible(scope.user_id)}"
        if role == Qt.ItemDataRole.DecorationRole:
            return theme.icon("cube" if scope.user_id is None else "user", "dim")
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(scope_text(scope))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return scope_text(scope)
        return None

    def _rebuild(self) -> None:
        self.beginResetModel()
        self._shown = [scope for scope in self._all if all(word in _text(scope) for word in self._words)] if self._words else self._all
        self.endResetModel()


def scope_text(scope: Scope) -> str:
    """Return the description of an app or user."""
    return f'App "{scope.app_name}"' if scope.user_id is None else f'User "{scope.user_id}" of app "{scope.app_name}"'


def _text(scope: Scope) -> str:
    return f"{scope.app_name}\n{scope.user_id or ''}".casefold()
