"""What the window's controllers have in common."""

from __future__ import annotations

from dataclasses import dataclass

from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.shell.main_window import MainWindow
from inspector_app.stream.event_list_model import EventListModel
from inspector_app.support.settings import Settings
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.breakpoint_store import BreakpointStore
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.messages import MessageBus


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one window. Each controller takes from it what it needs, in its constructor.

    Attributes:
        settings: what is remembered.
        messages: where everything is said.
        tasks: what goes on beside the window.
        cursor: what is selected.
        agents: the loaded agent.
        browse: what is open, and what is on show.
        breakpoints: where runs stop.
        run: what runs.
        events, sessions: the Qt models behind the stream and the list of sessions.
        window: the widgets.
    """

    settings: Settings
    messages: MessageBus
    tasks: Tasks
    cursor: Cursor
    agents: CurrentAgent
    browse: CurrentSession
    breakpoints: BreakpointStore
    run: CurrentRun
    events: EventListModel
    sessions: SessionTreeModel
    window: MainWindow
