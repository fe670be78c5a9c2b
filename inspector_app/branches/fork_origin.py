"""Says of a fork on show where it comes from and what was changed in it, and leads back there."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.branches.compare_controller import CompareController
from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.session_info import ForkInfo
from inspector_app.presentation.values import plain_tooltip
from inspector_app.shell.parts import Parts


class ForkOriginController(QObject):
    """Behind the line above a fork's events.

    Args:
        parts: of the window.
        compare: puts the fork beside its parent.
    """

    def __init__(self, parts: Parts, compare: CompareController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hint = parts.window.workbench.origin_hint
        self._sessions = parts.sessions
        self._compare = compare
        self._tasks = parts.tasks
        self._cursor = parts.cursor
        self._browse = parts.browse
        self._hint.accepted.connect(self._on_compare)
        self._hint.other_accepted.connect(self._on_parent)
        self._cursor.session_changed.connect(self._show)
        self._sessions.forks_changed.connect(self._show)

    def _show(self) -> None:
        address = self._cursor.session
        info = self._sessions.fork_info(address.database, address.key) if address is not None else None
        if info is None:
            self._hint.hide()
            return
        self._hint.suggest(info.sentence, "Compare", "code-branch", "accent", other=f"Show {short_id(info.parent.session_id)}")
        self._hint.setToolTip(plain_tooltip(info.tooltip))
        self._hint.button.setToolTip("Put this fork and the session it comes from side by side")
        self._hint.other_button.setToolTip("Show the session it comes from")

    def _on_compare(self) -> None:
        if (found := self._found()) is not None:
            self._tasks.spawn(self._compare_with(*found), "Opening what a fork comes from")

    def _on_parent(self) -> None:
        if (found := self._found()) is not None:
            self._tasks.spawn(self._go_to(*found), "Opening what a fork comes from")

    def _found(self) -> tuple[SessionAddress, ForkInfo] | None:
        address = self._cursor.session
        info = self._sessions.fork_info(address.database, address.key) if address is not None else None
        return (address, info) if address is not None and info is not None else None

    async def _compare_with(self, fork: SessionAddress, info: ForkInfo) -> None:
        parent = await self._opened(fork, info)
        if parent is not None:
            self._compare.compare(parent, fork)

    async def _go_to(self, fork: SessionAddress, info: ForkInfo) -> None:
        parent = await self._opened(fork, info)
        if parent is not None:
            self._cursor.select_session(parent)

    async def _opened(self, fork: SessionAddress, info: ForkInfo) -> SessionAddress | None:
        """Return the parent's address, its database opened if it is another one; None if that failed (it is reported)."""
        database = info.database or fork.database
        if self._browse.source(database) is None and await self._browse.open_database(database) is None:
            return None
        return SessionAddress(database, info.parent)
