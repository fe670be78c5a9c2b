"""What waits for a person: which form its answer has, and how far long-running calls are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject

from inspector_app.documents.session_address import SessionAddress
from inspector_app.running.resume_controller import ResumeController
from inspector_app.shell.parts import Parts
from inspector_app.workspace.manual_events import ManualEvents
from runtime.agents.llm_agent import LlmAgent
from runtime.history.invocations import PendingItem
from runtime.tools.base_tool import BaseTool
from runtime.tools.response_schema import response_schema


class PendingController(QObject):
    """Behind the pane that lists what waits.

    Args:
        parts: of the window.
        resume: asks before an invocation is resumed.
        commits: commits progress.
    """

    def __init__(self, parts: Parts, resume: ResumeController, commits: ManualEvents, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workbench = parts.window.workbench
        self._agents = parts.agents
        self._cursor = parts.cursor
        self._browse = parts.browse
        self._run = parts.run
        self._resume = resume
        self._tasks = parts.tasks
        self._commits = commits
        pane = self._workbench.pending
        pane.set_schemas(self.schema_of)
        pane.answered.connect(self._on_answered)
        pane.resume_asked.connect(self._on_resume_asked)
        pane.progress_given.connect(self._on_progress_given)
        self._agents.agent_loaded.connect(pane.refresh_form)
        parts.window.commands.answer_pending.triggered.connect(self._on_answer_pending)

    def schema_of(self, address: SessionAddress, item: PendingItem) -> Mapping[str, Any] | None:
        """Return what the answer to a long-running call looks like, as JSON schema; None where nobody says."""
        asked = item.args.get("response_schema")
        if item.kind != "long_running" or isinstance(asked, dict):
            return asked if isinstance(asked, dict) else None
        loaded = self._agents.loaded
        if loaded is None or loaded.name != address.key.app_name:
            return None
        agent = loaded.app.root_agent.find_agent(item.author or "")
        tools = agent.tools if isinstance(agent, LlmAgent) else []
        found = next((tool for tool in tools if isinstance(tool, BaseTool) and tool.name == item.name), None)
        return response_schema(found) if found is not None else None

    def _on_progress_given(self, item: PendingItem, response: dict[str, Any]) -> None:
        call_id = item.call_id or ""
        self._there(
            lambda: self._commits.commit(
                "Reporting progress", lambda engine, session: engine.report_progress(session.address.key, call_id, response)
            )
        )

    def _on_answered(self, item: PendingItem, response: dict[str, Any]) -> None:
        self._there(lambda: self._run.respond(item, response))

    def _on_resume_asked(self, item: PendingItem) -> None:
        self._there(lambda: self._resume.ask(item.invocation_id))

    def _there(self, then: Callable[[], None]) -> None:
        """Do something in the session of the selected item: another one may be on show."""
        address = self._workbench.pending.selected_session
        if address is None or address == self._cursor.session:
            then()
        else:
            self._tasks.spawn(self._go_there(address, then), "Going to the session that waits")

    async def _go_there(self, address: SessionAddress, then: Callable[[], None]) -> None:
        self._cursor.select_session(address)
        await self._browse.wait_until_loaded()
        then()

    def _on_answer_pending(self) -> None:
        self._workbench.raise_pane("pending")
        self._workbench.pending.focus()
