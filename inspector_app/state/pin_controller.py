"""Pinned state keys, remembered per app."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.documents.session_address import SessionAddress
from inspector_app.state.state_view import StateView
from inspector_app.support.preferences import Preferences
from inspector_app.workspace.cursor import Cursor


class PinController(QObject):
    """A controller that pins and unpins keys of the displayed state.

    Args:
        cursor: the selected session.
        preferences: stores the pinned keys.
        view: shows the state.
    """

    def __init__(self, cursor: Cursor, preferences: Preferences, view: StateView) -> None:
        super().__init__(view)
        self._cursor = cursor
        self._preferences = preferences
        self._view = view
        cursor.session_changed.connect(self._on_session_changed)
        view.tree.pin_requested.connect(self._on_pin_requested)

    def _on_session_changed(self, address: SessionAddress | None) -> None:
        self._view.model.set_pinned(self._preferences.pinned(address.key.app_name) if address is not None else [])

    def _on_pin_requested(self, key: str) -> None:
        pinned = self._view.model.pinned
        pinned = [other for other in pinned if other != key] if key in pinned else [*pinned, key]
        self._view.model.set_pinned(pinned)
        if self._cursor.session is not None:
            self._preferences.keep_pinned(self._cursor.session.key.app_name, pinned)
