"""Who wrote a state key: every event that wrote it, and the prompts that read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.values import counted, preview
from inspector_app.state.writers_card import WriterRow, WritersCard
from inspector_app.workspace.workspace import Workspace
from runtime.history.key_writers import Reading, Write, readings_of
from runtime.history.state_at import History
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.agents.base_agent import BaseAgent

_NO_KEY = "Select a key of the state first."
_BOTH_FIT = 60  # characters of both values on one line


class WritersController(QObject):
    """A controller that fills the card of a key's writers.

    Signals:
        answered: the card shows the answer to a new question.

    Args:
        work: the owners.
        card: the card to fill.
        is_in_front: returns whether the card's tab is in front; behind another one it does not search in the next session.
    """

    answered = Signal()

    def __init__(self, work: Workspace, card: WritersCard, is_in_front: Callable[[], bool]) -> None:
        super().__init__(card)
        self._work = work
        self._card = card
        self._is_in_front = is_in_front
        self._name = ""
        card.closed.connect(self._on_closed)
        card.event_requested.connect(work.cursor.request)
        work.current.session_loading.connect(self._on_session_loading)
        work.current.session_loaded.connect(self._on_session_loaded)

    def ask(self, name: str) -> None:
        """Show who wrote a key of the displayed session.

        Args:
            name: the key with its scope prefix.
        """
        session = self._work.current.session
        if session is not None:
            self._name = name
            self._work.messages.withdraw(_NO_KEY)
            self._work.tasks.spawn(self._ask(session, name), f"Finding who wrote {name}")

    def _on_session_loading(self) -> None:
        """Clear the answer about another session."""
        if not self._is_in_front():
            self._name = ""
        self._card.clear()

    def _on_closed(self) -> None:
        self._name = ""

    def _on_session_loaded(self, session: OpenSession) -> None:
        """Answer the same question for the newly displayed session."""
        if self._name:
            self._work.tasks.spawn(self._ask(session, self._name, again=True), f"Finding who wrote {self._name}")

    def ask_for_selected(self, name: str | None) -> None:
        """Show who wrote the selected key, or how to select one."""
        if name is None:
            self._work.messages.info(_NO_KEY)
        else:
            self.ask(name)

    async def _ask(self, session: OpenSession, name: str, *, again: bool = False) -> None:
        key = session.address.key
        loaded = self._work.agents.loaded
        root = loaded.root if loaded is not None and loaded.name == key.app_name else None
        writes = await session.source.writes(key, name)
        history = await session.source.history(key)
        at = self._work.cursor.event_index
        rows = await run_in_thread(_rows, session.address, history, root, name, writes)
        if session.address != self._work.cursor.session or name != self._name:
            return  # another session is selected by now, or another key was asked for
        count = counted(len(writes), "write")
        prompts = "" if root is not None else f" Load the agent of {key.app_name} to see which prompts read it."
        self._card.show_writers(f"{name}: {count}.{prompts}", rows, _in_force(rows, history, at))
        if not again:
            self.answered.emit()
            self._card.tree.setFocus()


def _rows(address: SessionAddress, history: History, root: BaseAgent | None, name: str, writes: Sequence[Write]) -> list[WriterRow]:
    places = {event.id: index for index, event in enumerate(history.events)}
    numbers = {write.event_id: number for number, write in enumerate(writes)}
    readings = readings_of(history, root, name, writes) if root is not None else []
    rows = [_reading(address, reading, history) for reading in readings if reading.write is None]
    for number, write in enumerate(writes):
        rows.append(_write(address, write, places, numbers))
        rows += [_reading(address, reading, history) for reading in readings if reading.write == number]
    return rows


def _change(before: str, after: str) -> str:
    """Return a value before and after a write; long values with the new one first, because the end may be elided."""
    both = f"{before} → {after}"
    return after if not before else both if len(both) <= _BOTH_FIT else f"{after}  ·  before: {before}"


def _in_force(rows: Sequence[WriterRow], history: History, at: int | None) -> int | None:
    """Return the row of the write whose value the state has after the event at a place; None means the last write."""
    if at is None or not 0 <= at < len(history.events):
        return None
    selected = history.events[at]
    places = {event.id: index for index, event in enumerate(history.events)}

    def is_done(row: WriterRow) -> bool:
        place = places.get(row.event_id or "")
        return row.timestamp <= selected.timestamp if place is None else place <= at

    done = [number for number, row in enumerate(rows) if row.kind != "reading" and is_done(row)]
    return done[-1] if done else None


def _write(address: SessionAddress, write: Write, places: dict[str, int], numbers: dict[str | None, int]) -> WriterRow:
    place = places.get(write.event_id or "")
    tools = f" · {write.tool_text}" if write.tool_text else ""
    after = "cleared (null)" if write.after is None else preview(write.after, 600)
    before = "" if write.is_new else preview(write.before, 120) if write.known else "not recorded"
    session = "this session" if write.session == address.key else short_id(write.session.session_id)
    note = ""
    if write.parallel:
        others = ", ".join(f"write {numbers[one] + 1}" for one in write.parallel if one in numbers)
        note = f"Written in parallel by agents that do not see each other's events ({others}). The last write won."
    return WriterRow(
        kind="parallel" if write.parallel else "write",
        address=SessionAddress(address.database, write.session),
        event_id=write.event_id,
        place=f"{place + 1:,}" if place is not None else "",
        timestamp=write.timestamp,
        who=f"{write.author or 'at creation'}{tools}" + (" · in parallel" if write.parallel else ""),
        where=" · ".join(filter(None, (write.branch, session))),
        change=_change(before, after),
        note=note,
    )


def _reading(address: SessionAddress, reading: Reading, history: History) -> WriterRow:
    event = history.events[reading.index]
    return WriterRow(
        kind="reading",
        address=address,
        event_id=reading.event_id,
        place=f"{reading.index + 1:,}",
        timestamp=event.timestamp,
        who=f"read by {reading.agent}'s prompt",
        where=" · ".join(filter(None, (event.branch, "this session"))),
        change="",
        note="Its instruction names the key. The prompt has the key's value before this event.",
    )
