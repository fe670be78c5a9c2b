"""The door of running: messages, holds, breakpoints, pending items and resuming."""

from __future__ import annotations

from inspector_app.running.breakpoint_controller import BreakpointController
from inspector_app.running.breakpoints_pane import BreakpointsPane
from inspector_app.running.commands import RunningCommands
from inspector_app.running.composer import Composer
from inspector_app.running.drafts import Drafts
from inspector_app.running.held_card import HeldCard
from inspector_app.running.held_controller import HeldController
from inspector_app.running.new_session_controller import NewSessionController
from inspector_app.running.pending_controller import PendingController
from inspector_app.running.pending_pane import PendingPane
from inspector_app.running.preflight_card import PreflightCard
from inspector_app.running.recording_controller import RecordingController
from inspector_app.running.resume_controller import ResumeController
from inspector_app.running.run_availability import RunAvailability
from inspector_app.running.run_commands import RunCommands
from inspector_app.widgets.hint_bar import WARNS
from inspector_app.widgets.places import Pane, Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class Running(Feature):
    """The run of the agent.

    Attributes:
        commands: the commands.
        composer, held_card, breakpoints_pane: where messages are written, the card of a held agent, the breakpoints.
        held, resume, breakpoints, drafts, run_commands, availability: the controllers; exist once started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.commands = RunningCommands(places)
        self.composer = places.beside_events("composer", Composer(), 90, is_stop=True)
        self.held_card = places.under_pane("detail", "held", HeldCard())
        self._pending = PendingPane()
        self.breakpoints_pane = BreakpointsPane()
        places.pane(Pane("pending", "Pending", self._pending, "below", 3, tab=1))
        places.pane(Pane("breakpoints", "Breakpoints", self.breakpoints_pane, "below", 4, tab=2))
        self._resume_hint, self._writing_hint = places.hint("resume_hint", WARNS), places.hint("writing_hint", WARNS)
        self._preflight = places.card("preflight", PreflightCard(), 31)
        for decided in (self.held_card.focus_given_up, self._preflight.chosen, self._pending.answered, self._pending.progress_given):
            decided.connect(places.focus_requested)  # else Qt moves the focus of what is hidden to the next widget
        self._pending.session_requested.connect(places.events_requested)
        about = "Send the agent a message here. F10 holds it at the next event, F11 before the next call, and F5 continues."
        places.tour_stop(4, "Write and step", about, self.composer)
        about = "Approvals, long-running calls and credentials that the agent needs from you, and interrupted runs."
        places.tour_stop(5, "Pending", about, self._pending)

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        places, commands, run, agents = self.places, self.commands, work.run, work.agents
        self.held = HeldController(run, agents, self.held_card, self)
        recording = RecordingController(run, work.preferences, self)
        commands.record_requests.setChecked(work.preferences.records_requests)
        commands.record_requests.toggled.connect(recording.choose)
        self.resume = ResumeController(work, self._resume_hint, self._writing_hint, self._preflight)
        self.resume.cancelled.connect(places.focus_requested)
        pending = PendingController(work, self.resume, self._pending)
        pending.listed.connect(self._on_pending_listed)
        pending.answer_wanted.connect(self._on_answer_wanted)
        commands.answer_pending.triggered.connect(pending.answer)
        self.breakpoints = BreakpointController(work.breakpoints, agents, run, self.breakpoints_pane, work.messages, self)
        self.breakpoints.count_changed.connect(self._on_breakpoints_counted)
        self.breakpoints.condition_proposed.connect(self._on_condition_proposed)
        self.drafts = Drafts(work.cursor, work.databases, run, self.composer, self)
        self.run_commands = RunCommands(work, commands, self.held, self.breakpoints, self.resume, self.composer, self.drafts)
        commands.new_session_with.triggered.connect(NewSessionController(work, self.composer).ask)
        self.run_commands.selected_event = lambda: places.selected_event()
        self.availability = RunAvailability(work, places, commands, self.composer, self._pending, self._preflight)
        work.tail.has_draft = lambda: bool(self.composer.text)

    def _on_pending_listed(self, count: int, listed: int) -> None:
        """Show the number of pending items in the pane's title, and how many it lists, if not all."""
        part = f" ({listed:,} listed)" if listed < count else ""
        self.places.pane_titled.emit("pending", f"Pending  {count:,}{part}" if count else "Pending")

    def _on_answer_wanted(self) -> None:
        self.places.pane_requested.emit("pending")

    def _on_breakpoints_counted(self, count: int) -> None:
        self.places.pane_titled.emit("breakpoints", f"Breakpoints  {count}" if count else "Breakpoints")

    def _on_condition_proposed(self) -> None:
        self.places.pane_requested.emit("breakpoints")
