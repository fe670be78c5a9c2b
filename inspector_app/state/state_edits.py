"""Manual edits of the state, committed as events while an agent is held or between runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.manual_events import ManualEvents
from runtime.events.marks import is_state_edit

if TYPE_CHECKING:
    from runtime.events.event import Event


class StateEditController(QObject):
    """A controller that sets state keys in the displayed session, and undoes such edits.

    Args:
        cursor: the selected event.
        current: the displayed session.
        commits: commits the edits.
    """

    def __init__(self, cursor: Cursor, current: CurrentSession, commits: ManualEvents, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._current = current
        self._commits = commits

    def blocked(self) -> str | None:
        """Return the reason why the state cannot be edited now, or None."""
        return self._commits.blocked()

    def edit(self, changes: dict[str, Any]) -> None:
        """Set keys.

        Args:
            changes: key with prefix → JSON value; None clears the key.
        """
        self._commits.commit("Editing state", lambda engine, session: engine.edit_state(session.address.key, changes))

    def undo(self) -> None:
        """Undo the selected event, if it is an edit."""
        event = self.selected_edit()
        if event is not None:
            event_id = event.id
            self._commits.commit("Editing state", lambda engine, session: engine.undo_state_edit(session.address.key, event_id))

    def selected_edit(self) -> Event | None:
        """Return the selected event if it is an edit, else None."""
        session, index = self._current.session, self._cursor.event_index
        if session is None or index is None or index >= len(session.events):
            return None
        event = session.events.cached(index, request=False)
        return event if event is not None and is_state_edit(event) else None
