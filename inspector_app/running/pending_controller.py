"""Pending items: the list, the forms of their answers, and the progress of long-running calls."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.running.pending_pane import PendingPane, PendingRow
from inspector_app.running.resume_controller import ResumeController
from inspector_app.workspace.current_run import RunEnd
from inspector_app.workspace.workspace import Workspace
from runtime.history.agent_places import AgentPlaces
from runtime.history.invocations import PendingItem
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from runtime.agents import llm_agent
    from runtime.tools import base_tool
    from runtime.tools import response_schema as response_schemas
else:
    llm_agent = lazy_module("runtime.agents.llm_agent")
    base_tool = lazy_module("runtime.tools.base_tool")
    response_schemas = lazy_module("runtime.tools.response_schema")

MOST_LISTED = 500  # rows of the pane, which take 50 ms; the session list marks all sessions with pending items
_FEW = 100  # rows up to which the list is refreshed at once
_REFRESH_MS = 250  # between refreshes of a longer list


class PendingController(QObject):
    """A controller that fills the pane of pending items and answers them.

    Signals:
        listed(int, int): how many items are pending, and how many of them the pane lists.
        answer_wanted: an item that the user must answer is pending after a run, or the user asked for the pane.

    Args:
        work: the owners.
        resume: asks before an invocation is resumed.
        pane: the pane to fill.
    """

    listed = Signal(int, int)
    answer_wanted = Signal()

    def __init__(self, work: Workspace, resume: ResumeController, pane: PendingPane) -> None:
        super().__init__(pane)
        self._work = work
        self._resume = resume
        self._pane = pane
        self._timer = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._timer.timeout.connect(self._show)
        pane.set_schemas(self.schema_of)
        self._connect_signals()

    def _connect_signals(self) -> None:
        self._pane.answered.connect(self._on_answered)
        self._pane.resume_requested.connect(self._on_resume_requested)
        self._pane.progress_given.connect(self._on_progress_given)
        self._pane.session_requested.connect(self._work.cursor.select_session)
        self._work.agents.agent_loaded.connect(self._pane.refresh_form)
        self._work.catalog.pending_changed.connect(self._show_soon)
        self._work.titles.changed.connect(self._show_soon)
        self._work.current.session_loading.connect(self._show)
        self._work.run.run_started.connect(self._show)
        self._work.run.run_ended.connect(self._on_run_ended)

    def _show_soon(self) -> None:
        """List the items now; refresh a long list, which changes often during a scan, only a few times a second."""
        if len(self._pane.rows) < _FEW:
            self._show()
        elif not self._timer.isActive():
            self._timer.start()

    def _show(self) -> None:
        """List the items, the oldest first: a new one moves none. If there are too many, the displayed session's are listed in any case."""
        self._timer.stop()
        pending, selected = self._work.catalog.pending, self._work.cursor.session
        running = self._work.run.address if self._work.run.phase != "idle" else None
        listed = [
            (address, item)
            for address, items in pending.items()
            for item in items
            if _is_listed(item) and not (address == running and item.kind == "interrupted")  # it is being resumed
        ]
        kept = heapq.nsmallest(MOST_LISTED, listed, key=lambda entry: (entry[0] != selected, *_age(*entry)))
        rows = [self._row(address, item) for address, item in sorted(kept, key=lambda entry: _age(*entry))]
        self._pane.set_rows(rows, selected)
        self.listed.emit(len(listed), len(rows))

    def _row(self, address: SessionAddress, item: PendingItem) -> PendingRow:
        source = self._work.databases.source(address.database)
        return PendingRow(address, item, source.title if source is not None else "", self._work.titles.title(address))

    def _on_run_ended(self, end: RunEnd) -> None:
        if any(item.kind != "interrupted" for item in self._work.catalog.pending.get(end.address, [])):
            self.answer_wanted.emit()
        self._show()

    def schema_of(self, address: SessionAddress, item: PendingItem) -> Mapping[str, Any] | None:
        """Return the JSON schema of the answer to a long-running call; None if it is unknown."""
        asked = item.args.get("response_schema")
        if item.kind != "long_running" or isinstance(asked, dict):
            return asked if isinstance(asked, dict) else None
        loaded = self._work.agents.loaded
        if loaded is None or loaded.name != address.key.app_name:
            return None
        agent = AgentPlaces(loaded.root).with_key(item.author or "")
        tools = agent.tools if isinstance(agent, llm_agent.LlmAgent) else []
        found = next((tool for tool in tools if isinstance(tool, base_tool.BaseTool) and tool.name == item.name), None)
        return response_schemas.response_schema(found) if found is not None else None

    def _on_progress_given(self, item: PendingItem, response: dict[str, Any]) -> None:
        call_id = item.call_id or ""
        self._there(
            lambda: self._work.commits.commit(
                "Reporting progress", lambda engine, session: engine.report_progress(session.address.key, call_id, response)
            )
        )

    def _on_answered(self, item: PendingItem, response: dict[str, Any]) -> None:
        self._there(lambda: self._work.run.respond(item, response))

    def _on_resume_requested(self, item: PendingItem) -> None:
        self._there(lambda: self._resume.ask(item.invocation_id))

    def _there(self, then: Callable[[], None]) -> None:
        """Do something in the selected item's session, after displaying it."""
        address = self._pane.selected_session
        if address is None or address == self._work.cursor.session:
            then()
        else:
            self._work.tasks.spawn(self._go_there(address, then), "Opening the session of a pending item")

    async def _go_there(self, address: SessionAddress, then: Callable[[], None]) -> None:
        self._work.cursor.select_session(address)
        await self._work.current.wait_until_loaded()
        if self._work.cursor.session == address:  # else the answer would go to another session
            then()

    def answer(self) -> None:
        """Go to the form of the first pending item."""
        self.answer_wanted.emit()
        self._pane.focus()


def _age(address: SessionAddress, item: PendingItem) -> tuple[object, ...]:
    """Return the sort key of an item; items of the same moment keep their order within a session."""
    return item.asked_time, address.database, address.key


def _is_listed(item: PendingItem) -> bool:
    """Return whether an item waits for a person: an interrupted invocation does only as long as nothing has followed it."""
    return item.kind != "interrupted" or not item.is_past
