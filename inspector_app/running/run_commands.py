"""The commands of a run: send a message, pause, step, resume and stop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector_app.running.breakpoint_controller import BreakpointController
from inspector_app.running.commands import RunningCommands
from inspector_app.running.composer import Composer
from inspector_app.running.drafts import Drafts
from inspector_app.running.held_controller import HeldController
from inspector_app.running.resume_controller import ResumeController
from inspector_app.workspace.workspace import Workspace
from runtime.debugger import stepping
from runtime.debugger.stepping import Goal
from runtime.events.kinds import kind_of

if TYPE_CHECKING:
    from runtime.events.event import Event


class RunCommands(QObject):
    """Handles the commands of the tool bar and the messages of the composer.

    Attributes:
        message_handlers: called in order with a message and where to hold the agent first. The first handler that returns
            True has taken the message; otherwise it is sent to the displayed session.

    Args:
        work: the owners.
        commands: the commands of a run.
        held: releases a held agent.
        breakpoints: adds and removes breakpoints.
        resume: asks before an invocation is resumed.
        composer: the editor of messages.
        drafts: what is written there for each session.
    """

    def __init__(
        self,
        work: Workspace,
        commands: RunningCommands,
        held: HeldController,
        breakpoints: BreakpointController,
        resume: ResumeController,
        composer: Composer,
        drafts: Drafts,
    ) -> None:
        super().__init__(composer)
        self.message_handlers: list[Callable[[str, bool | Goal], bool]] = []
        self._run = work.run
        self._held = held
        self._breakpoints = breakpoints
        self._resume = resume
        self._composer = composer
        self._drafts = drafts
        self.selected_event: Callable[[], Event | None] = lambda: None
        self._connect_commands(commands)
        composer.sent.connect(self._on_sent)
        composer.refused.connect(work.messages.info)

    def _connect_commands(self, commands: RunningCommands) -> None:
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
        commands.write_message.triggered.connect(self._composer.focus)

    def begin_draft(self, text: str) -> None:
        """Put a message into the composer, to be edited and sent."""
        self._composer.set_text(text)
        self._composer.focus()

    def _on_new_session(self) -> None:
        self._run.new_session()
        self._composer.focus()

    def _on_run(self) -> None:
        if self._run.phase == "paused":
            self._held.release(self._run.continue_run)
        else:
            self._composer.submit()

    def _on_step(self) -> None:
        text = self._composer.text
        if self._run.phase == "paused":
            self._held.release(self._run.step)
        elif text:
            self._send(text, paused=True)
        else:
            self._resume.ask(paused=True)

    def _on_step_over(self) -> None:
        self._held.release(partial(self._run.step_on, "over"))

    def _on_step_into(self) -> None:
        if self._run.phase == "idle":
            self._send(self._composer.text, paused=stepping.first_call())
            return
        self._held.release(partial(self._run.step_on, "into"))

    def _on_step_out(self) -> None:
        self._held.release(partial(self._run.step_on, "out"))

    def _on_run_to(self) -> None:
        event = self.selected_event()
        if event is not None:
            self._held.release(partial(self._run.run_to, kind_of(event)))

    def _on_toggle_breakpoint(self) -> None:
        event = self.selected_event()
        if event is not None:
            self._breakpoints.toggle_at(event)

    def _on_resume(self) -> None:
        self._resume.ask()

    def _on_sent(self, text: str) -> None:
        self._send(text)

    def _send(self, text: str, *, paused: bool | Goal = False) -> None:
        self._drafts.note_sent()
        if not any(take(text, paused) for take in self.message_handlers):
            self._run.send(text, paused=paused)
