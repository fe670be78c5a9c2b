"""What the window's controllers have in common."""

from __future__ import annotations

from dataclasses import dataclass

from inspector_app.controllers.agents import AgentController
from inspector_app.controllers.browse import BrowseController
from inspector_app.controllers.run import RunController
from inspector_app.cursor import Cursor
from inspector_app.messages import MessageBus
from inspector_app.qt_models.event_list import EventListModel
from inspector_app.qt_models.session_tree import SessionTreeModel
from inspector_app.settings import Settings
from inspector_app.tasks import Tasks
from inspector_app.views.main_window import MainWindow


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
        run: what runs.
        events, sessions: the Qt models behind the stream and the list of sessions.
        window: the widgets.
    """

    settings: Settings
    messages: MessageBus
    tasks: Tasks
    cursor: Cursor
    agents: AgentController
    browse: BrowseController
    run: RunController
    events: EventListModel
    sessions: SessionTreeModel
    window: MainWindow
