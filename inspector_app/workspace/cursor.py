"""The owner of the selection: one session, one event in it, and perhaps another event to compare it with."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_address import SessionAddress


class Cursor(QObject):
    """The window's selection. Every pane shows it, and any pane may move it.

    Signals:
        session_changed(SessionAddress | None): another session is selected, and no event of it yet.
        event_changed(int | None): another event is selected, by its place in the session's commit order.
        compared_changed(int | None): the selected event's state is compared with that of another event; None: no longer.
        event_requested(SessionAddress, str): an event of any session was asked for by its id.
    """

    session_changed = Signal(object)
    event_changed = Signal(object)
    compared_changed = Signal(object)
    event_requested = Signal(object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session: SessionAddress | None = None
        self._event_index: int | None = None
        self._compared_index: int | None = None

    @property
    def session(self) -> SessionAddress | None:
        """The selected session."""
        return self._session

    @property
    def event_index(self) -> int | None:
        """The selected event's place in commit order, from 0."""
        return self._event_index

    @property
    def compared_index(self) -> int | None:
        """The place of the event whose state the selected one's is compared with."""
        return self._compared_index

    def select_session(self, session: SessionAddress | None) -> None:
        """Select a session, unless it is selected already."""
        if session == self._session:
            return
        self._session = session
        self._event_index = None
        self.compare_with(None)
        self.session_changed.emit(session)
        self.event_changed.emit(None)

    def select_event(self, index: int | None) -> None:
        """Select an event of the session, unless it is selected already."""
        if index == self._event_index:
            return
        self._event_index = index
        self.event_changed.emit(index)

    def request(self, address: SessionAddress, event_id: str) -> None:
        """Ask for an event of any session in the open databases to be displayed and selected.

        Args:
            address: its session.
            event_id: its id.
        """
        self.event_requested.emit(address, event_id)

    def compare_with(self, index: int | None) -> None:
        """Compare the selected event's state with that of another event of the session; None ends the comparison."""
        if index == self._compared_index:
            return
        self._compared_index = index
        self.compared_changed.emit(index)
