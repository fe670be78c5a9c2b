"""The breakpoints pane: rows from the store, and hints about names that the agent does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector_app.engines.protocol import Agent
from inspector_app.running.breakpoints_pane import BreakpointRow, BreakpointsPane
from inspector_app.running.known_names import KnownNames, names_of, unknown_name, unknown_tool
from inspector_app.workspace.breakpoint_store import BreakpointStore
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.messages import MessageBus
from runtime.debugger.breakpoints import condition_for
from runtime.debugger.hold import Report
from runtime.expressions import ExpressionError, parse

if TYPE_CHECKING:
    from runtime.debugger.breakpoint import Breakpoint
    from runtime.events.event import Event


class BreakpointController(QObject):
    """A controller that fills the breakpoints pane and reports what logpoints write.

    Signals:
        condition_proposed: the pane's form holds a condition made from an event.
        count_changed(int): the number of breakpoints.

    Args:
        store: the breakpoints.
        agents: the loaded agent, whose names the hints are based on.
        run: reports logpoints and problems.
        pane: the pane to fill.
        messages: receives the reports.
    """

    condition_proposed = Signal()
    count_changed = Signal(int)

    def __init__(
        self,
        store: BreakpointStore,
        agents: CurrentAgent,
        run: CurrentRun,
        pane: BreakpointsPane,
        messages: MessageBus,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._run = run
        self._pane = pane
        self._messages = messages
        self._names = KnownNames()
        self._problems: set[str] = set()
        pane.form.set_hints(self.hint)
        pane.add_requested.connect(store.add)
        pane.change_requested.connect(store.change)
        pane.remove_requested.connect(store.remove)
        store.changed.connect(self._on_changed)
        store.hit.connect(self._on_changed)
        run.hold_changed.connect(self._on_changed)  # without waiting for the next frame
        run.reported.connect(self._on_reported)
        run.run_started.connect(self._on_run_started)
        agents.agent_loaded.connect(self._on_agent_loaded)

    def hint(self, condition: str, tool: str) -> str:
        """Return why a breakpoint would never stop this agent, judged by the agent's names; empty if it may.

        Args:
            condition: a valid condition, or an empty text.
            tool: the only tool it stops at; empty means any.
        """
        try:
            unknown = unknown_name(parse(condition), self._names) if condition else ""
        except ExpressionError:
            return ""
        return unknown or (unknown_tool(tool, self._names) if tool else "")

    def toggle_at(self, event: Event) -> None:
        """Remove the breakpoint that was made from an event, or propose a condition for the event in the form."""
        if not self._store.remove_made_from(event):
            self.condition_proposed.emit()
            self._pane.form.propose(condition_for(event))

    def _on_agent_loaded(self, loaded: Agent) -> None:
        self._names = names_of(loaded.root)

    def _on_run_started(self) -> None:
        self._problems.clear()
        self._store.reset_hits()

    def _on_changed(self) -> None:
        rows = [_row(one) for one in self._store]
        self._pane.set_rows(rows)
        self.count_changed.emit(len(rows))

    def _on_reported(self, report: Report) -> None:
        if report.kind == "problem":  # may occur at every event, so report it once a run
            if report.text in self._problems:
                return
            self._problems.add(report.text)
        self._messages.info(report.text, quiet=report.kind != "problem")


def _row(one: Breakpoint) -> BreakpointRow:
    return BreakpointRow(
        one.id, one.when, one.condition, one.tool, one.enabled, one.after, one.every, one.log, one.hits, one.problem, str(one)
    )
