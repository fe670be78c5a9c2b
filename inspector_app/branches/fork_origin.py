"""The origin of a displayed fork: its parent session and what was changed."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.branches.compare_controller import CompareController
from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.session_info import ForkInfo
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.widgets.tooltips import set_tooltip
from inspector_app.workspace.workspace import Workspace


class ForkOriginController(QObject):
    """A controller that fills the hint below a fork's events.

    Args:
        work: the owners.
        compare: compares the fork with its parent.
        hint: the hint to fill.
    """

    def __init__(self, work: Workspace, compare: CompareController, hint: HintBar) -> None:
        super().__init__(hint)
        self._work = work
        self._compare = compare
        self._hint = hint
        self._hint.accepted.connect(self._on_compare)
        self._hint.other_accepted.connect(self._on_parent)
        self._work.cursor.session_changed.connect(self._show)
        self._work.catalog.forks_changed.connect(self._show)
        self._work.titles.changed.connect(self._show)

    def _show(self) -> None:
        address = self._work.cursor.session
        info = self._work.catalog.fork_info(address) if address is not None else None
        if info is None or address is None:
            self._hint.hide()
            return
        title = self._work.titles.title(SessionAddress(info.database or address.database, info.parent))
        self._hint.suggest(f"Fork of “{title}”{info.told}", "Compare", "code-branch", "accent", other="Show the original")
        set_tooltip(self._hint, info.tooltip)
        self._hint.button.setToolTip("Compare this fork with the session it was forked from")
        self._hint.other_button.setToolTip("Show the session it was forked from")

    def _on_compare(self) -> None:
        if (found := self._found()) is not None:
            self._work.tasks.spawn(self._compare_with(*found), "Opening the parent of a fork")

    def _on_parent(self) -> None:
        if (found := self._found()) is not None:
            self._work.tasks.spawn(self._go_to(*found), "Opening the parent of a fork")

    def _found(self) -> tuple[SessionAddress, ForkInfo] | None:
        address = self._work.cursor.session
        info = self._work.catalog.fork_info(address) if address is not None else None
        return (address, info) if address is not None and info is not None else None

    async def _compare_with(self, fork: SessionAddress, info: ForkInfo) -> None:
        parent = await self._opened(fork, info)
        if parent is not None:
            self._compare.compare(parent, fork)

    async def _go_to(self, fork: SessionAddress, info: ForkInfo) -> None:
        parent = await self._opened(fork, info)
        if parent is not None:
            self._work.cursor.select_session(parent)

    async def _opened(self, fork: SessionAddress, info: ForkInfo) -> SessionAddress | None:
        """Return the parent's address, after opening its database if necessary; None if it cannot be opened, which is reported."""
        database = info.database or fork.database
        if self._work.databases.source(database) is None and await self._work.databases.open_database(database) is None:
            return None
        return SessionAddress(database, info.parent)
