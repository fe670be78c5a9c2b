"""Named filters, remembered per app."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.documents.session_address import SessionAddress
from inspector_app.stream.saved_filters import SavedFilters
from inspector_app.support.preferences import Preferences
from inspector_app.workspace.cursor import Cursor


class SavedFilterController(QObject):
    """A controller that stores the filters of the selected session's app.

    Args:
        cursor: the selected session.
        preferences: stores the filters.
        view: offers the filters.
    """

    def __init__(self, cursor: Cursor, preferences: Preferences, view: SavedFilters) -> None:
        super().__init__(view)
        self._cursor = cursor
        self._preferences = preferences
        self._view = view
        cursor.session_changed.connect(self._on_session_changed)
        view.save_requested.connect(self._on_save_requested)
        view.remove_requested.connect(self._on_remove_requested)

    def _on_session_changed(self, address: SessionAddress | None) -> None:
        self._view.set_filters(self._preferences.saved_filters(address.key.app_name) if address is not None else None)

    def _on_save_requested(self, name: str, text: str) -> None:
        self._keep({**self._view.filters, name: text})

    def _on_remove_requested(self, name: str) -> None:
        self._keep({other: text for other, text in self._view.filters.items() if other != name})

    def _keep(self, filters: dict[str, str]) -> None:
        if self._cursor.session is not None:
            self._preferences.keep_saved_filters(self._cursor.session.key.app_name, filters)
            self._view.set_filters(filters)
