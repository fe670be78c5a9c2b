"""The breakpoints of the loaded agent: kept per agent, shown in their pane, and in the gutter of the stream."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from inspector_app.engines.agent_loader import LoadedAgent
from inspector_app.running.breakpoints_pane import BreakpointRow
from inspector_app.running.known_names import KnownNames, names_of, unknown_name, unknown_tool
from inspector_app.support.settings import Settings
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.messages import MessageBus
from runtime.debugger.breakpoints import Breakpoint, Breakpoints, BreakpointsFileError, condition_for
from runtime.debugger.hold import Report
from runtime.events.event import Event
from runtime.expressions import ExpressionError, ExpressionTooCostlyError, parse


class BreakpointController(QObject):
    """Keeps the list, and answers the pane.

    Signals:
        changed: one was added, changed, removed or met.
        moved: they stop elsewhere now: the gutter is to be painted again.
        proposed(str): a condition made from an event, to be looked at before it is added.
    """

    changed = Signal()
    moved = Signal()
    proposed = Signal(str)

    def __init__(
        self, settings: Settings, agents: CurrentAgent, run: CurrentRun, messages: MessageBus, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._agents = agents
        self._run = run
        self._messages = messages
        self._kept = ""
        self._names = KnownNames()
        self._problems: set[str] = set()
        run.breakpoints = self._all = Breakpoints(self._on_change)
        run.reported.connect(self._on_reported)
        run.run_started.connect(self._on_run_started)
        agents.agent_loaded.connect(self._on_agent_loaded)

    @property
    def rows(self) -> list[BreakpointRow]:
        """All of them, as the pane shows them."""
        return [_row(one) for one in self._all]

    def hint(self, condition: str, tool: str) -> str:
        """Return why a breakpoint would never stop this agent, as far as its names tell; empty if nothing does.

        Args:
            condition: that can be read, or nothing.
            tool: the only one it is for; empty: any.
        """
        try:
            unknown = unknown_name(parse(condition), self._names) if condition else ""
        except ExpressionError:
            return ""
        return unknown or (unknown_tool(tool, self._names) if tool else "")

    def add(self, fields: dict[str, Any]) -> None:
        """Add one; the pane has checked what was typed."""
        self._try(lambda: self._all.add(**fields))

    def change(self, number: int, fields: dict[str, Any]) -> None:
        """Change one."""
        if self._all.get(number) is not None:
            self._try(lambda: self._all.change(number, **fields))

    def remove(self, number: int) -> None:
        """Remove one."""
        self._all.remove(number)

    def toggle_at(self, event: Event) -> None:
        """Remove the breakpoint that an event's condition made, or propose that condition."""
        condition = condition_for(event)
        for one in self._all:
            if one.when == "event" and one.condition == condition:
                self._all.remove(one.id)
                return
        self.proposed.emit(condition)

    def mark_of(self, event: Event) -> str:
        """Return how the gutter marks an event: `on` where a breakpoint would stop, `off` where one that is switched off would."""
        mark = ""
        for one in self._all:
            if one.when == "event" and not one.log and _would_stop(one, event):
                if one.enabled:
                    return "on"
                mark = "off"
        return mark

    def _try(self, work: Any) -> None:
        try:
            work()
        except ExpressionError as error:
            self._messages.info(str(error))

    def _on_agent_loaded(self, loaded: LoadedAgent) -> None:
        self._run.breakpoints = self._all = Breakpoints(self._on_change)
        self._names = names_of(loaded.app.root_agent)
        self._kept = self._settings.breakpoints(loaded.folder)
        if self._kept:
            try:
                self._all.load_json(self._kept)
            except BreakpointsFileError as error:
                self._messages.info(str(error))
        self.changed.emit()
        self.moved.emit()

    def _on_run_started(self) -> None:
        self._problems.clear()
        self._all.reset_hits()

    def _on_change(self) -> None:
        loaded = self._agents.loaded
        kept = self._all.to_json()
        if kept != self._kept:
            self._kept = kept
            if loaded is not None:
                self._settings.keep_breakpoints(loaded.folder, kept)
            self.moved.emit()
        self.changed.emit()

    def _on_reported(self, report: Report) -> None:
        if report.kind == "problem":  # met at every event: said once a run
            if report.text in self._problems:
                return
            self._problems.add(report.text)
        self._messages.info(report.text, quiet=report.kind != "problem")


def _would_stop(one: Breakpoint, event: Event) -> bool:
    if not one.condition:
        return True
    try:
        return parse(one.condition).matches(event, None)
    except ExpressionTooCostlyError:
        return False


def _row(one: Breakpoint) -> BreakpointRow:
    return BreakpointRow(
        one.id, one.when, one.condition, one.tool, one.enabled, one.after, one.every, one.log, one.hits, one.problem, str(one)
    )
