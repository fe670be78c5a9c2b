"""The run commands of the tool bar, the shortcuts, the composer and the breakpoints."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject

from inspector_app.branches.fork_controller import ForkController
from inspector_app.running.breakpoint_controller import BreakpointController
from inspector_app.running.held_controller import HeldController
from inspector_app.running.resume_controller import ResumeController
from inspector_app.running.view_data import Preflight
from inspector_app.shell.parts import Parts
from inspector_app.shell.window_status import WindowStatus
from inspector_app.workspace.current_run import RunEnd
from runtime.events.kinds import kind_of


class RunCommands(QObject):
    """Connects the window's commands to the run: send, hold, step, resume, stop, breakpoints.

    Args:
        parts: the window's parts.
        status: provides the selected event.
        resume: asks before an invocation is resumed.
        forks: takes the message that starts a fork.
    """

    def __init__(
        self, parts: Parts, status: WindowStatus, resume: ResumeController, forks: ForkController, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.window = parts.window
        self.events = parts.events
        self._status = status
        self._run = parts.run
        self._held = HeldController(self._run, parts.breakpoints, self.window.workbench.held, self)
        self._resume = resume
        self._forks = forks
        self._sent = ""
        self._breakpoints = BreakpointController(
            parts.breakpoints, parts.agents, self._run, self.window.workbench.breakpoints, parts.messages, self
        )
        self.events.set_breakpoint_marks(parts.breakpoints.mark_of)
        parts.breakpoints.changed.connect(self.events.refresh_rows)
        self._connect_commands()
        self._connect_panes()
        self.window.workbench.composer.refused.connect(parts.messages.info)

    def _connect_commands(self) -> None:
        commands = self.window.commands
        commands.run.triggered.connect(self._on_run)
        commands.pause.triggered.connect(self._run.pause)
        commands.step.triggered.connect(self._on_step)
        commands.step_over.triggered.connect(self._on_step_over)
        commands.step_into.triggered.connect(self._on_step_into)
        commands.step_out.triggered.connect(self._on_step_out)
        commands.run_to.triggered.connect(self._on_run_to)
        commands.toggle_breakpoint.triggered.connect(self._on_toggle_breakpoint)
        commands.stop.triggered.connect(self._run.stop)
        commands.resume.triggered.connect(self._on_resume)
        commands.new_session.triggered.connect(self._on_new_session)

    def _on_new_session(self) -> None:
        self._run.new_session()
        self.window.workbench.composer.focus()  # the first message creates the session's invocation

    def _connect_panes(self) -> None:
        bench = self.window.workbench
        bench.composer.sent.connect(self._on_sent)
        self._run.run_ended.connect(self._on_run_ended)
        bench.resume_hint.accepted.connect(self._on_resume)
        bench.preflight.accepted.connect(self._resume.accept)
        bench.preflight.cancelled.connect(self._on_resume_cancelled)
        self._resume.planned.connect(self._on_resume_planned)
        self._resume.outdated.connect(bench.preflight.hide)
        bench.stream.breakpoint_asked.connect(self._breakpoints.toggle_at)
        self._breakpoints.count_changed.connect(self._on_breakpoint_count_changed)
        self._breakpoints.condition_proposed.connect(self._on_breakpoint_proposed)

    def _on_run(self) -> None:
        if self._run.phase == "paused":
            self._held.release(self._run.go_on)
        else:
            self.window.workbench.composer.submit()

    def _on_step(self) -> None:
        text = self.window.workbench.composer.text
        if self._run.phase == "paused":
            self._held.release(self._run.step)
        elif text:
            self._send(text, paused=True)
        else:
            self._resume.ask(paused=True)

    def _on_step_over(self) -> None:
        self._held.release(partial(self._run.step_on, "over"))

    def _on_step_into(self) -> None:
        self._held.release(partial(self._run.step_on, "into"))

    def _on_step_out(self) -> None:
        self._held.release(partial(self._run.step_on, "out"))

    def _on_run_to(self) -> None:
        event = self._status.selected_event()
        if event is not None:
            self._held.release(partial(self._run.run_to, kind_of(event)))

    def _on_toggle_breakpoint(self) -> None:
        event = self._status.selected_event()
        if event is not None:
            self._breakpoints.toggle_at(event)

    def _on_breakpoint_proposed(self) -> None:
        self.window.workbench.raise_pane("breakpoints")

    def _on_breakpoint_count_changed(self, count: int) -> None:
        self.window.workbench.show_breakpoints(count=count)

    def _on_resume(self) -> None:
        self._resume.ask()

    def _on_resume_planned(self, preflight: Preflight, paused: bool) -> None:
        self.window.workbench.resume_hint.hide()
        self.window.workbench.preflight.ask(preflight, paused=paused)

    def _on_resume_cancelled(self) -> None:
        self._status.show_session_hints()
        self.window.workbench.stream.table.setFocus()

    def _on_sent(self, text: str) -> None:
        self._send(text)

    def _on_run_ended(self, end: RunEnd) -> None:
        """Restore the text of a message that was not stored, for example because the disk is full or the database is locked."""
        composer = self.window.workbench.composer
        if self._sent and not end.committed and not composer.text and end.address == self._run.address:
            composer.set_text(self._sent)
        self._sent = ""

    def _send(self, text: str, *, paused: bool = False) -> None:
        self._sent = text
        (self._forks.send if self._forks.is_drafting else self._run.send)(text, paused=paused)
