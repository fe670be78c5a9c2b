"""The door of opening: the start page, agents, databases, servers and running apps."""

from __future__ import annotations

from functools import partial

from inspector_app.documents.session_address import SessionAddress
from inspector_app.opening.agent_changes import AgentChanges
from inspector_app.opening.agent_choice_page import AgentChoicePage
from inspector_app.opening.attach_controller import AttachController
from inspector_app.opening.drop_target import DropTarget
from inspector_app.opening.engine_controller import EngineController
from inspector_app.opening.engine_menu import EngineMenu
from inspector_app.opening.install_controller import InstallController
from inspector_app.opening.install_page import InstallPage
from inspector_app.opening.opening_controller import OpeningController, sample_cards
from inspector_app.opening.path_dialogs import ask_for_agent, ask_for_database, ask_for_eval_set
from inspector_app.opening.problem_page import ProblemPage
from inspector_app.opening.server_app_dialog import ask_for_app
from inspector_app.opening.server_controller import ServerController
from inspector_app.opening.trust_page import TrustPage
from inspector_app.opening.welcome import WelcomePage
from inspector_app.widgets.actions import allow
from inspector_app.widgets.hint_bar import SUGGESTS, WARNS
from inspector_app.widgets.places import Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.messages import format_traceback
from inspector_app.workspace.workspace import Workspace
from runtime.errors.known_error import KnownError
from runtime.support.texts import error_text


class Opening(Feature):
    """What opens agents, databases, servers and running apps.

    Attributes:
        open_agent, open_eval_set, choose_engine: commands.
        welcome, problem: the start page, and the page of what could not be opened.
        session_problem: replaces the events of a session that cannot be read.
        opening, servers, changes, engines, attaching: the controllers; exist once started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        add = places.command
        self.open_agent = add("open_agent", "Open agent…", "robot", "Ctrl+O", menu="", at=1)
        self._open_database = add("open_database", "Open database…", "database", "Ctrl+Shift+O", menu="", at=2)
        self.open_eval_set = add("open_eval_set", "Open an eval set…", "list-check", menu="", at=3)
        self._open_url = add("open_url", "Open a server…", "server", menu="", at=4)
        self._attach = add("attach", "Attach to a running app…", "plug", "Ctrl+Shift+A", menu="", at=5)
        self._start_page = add("start_page", "Start page", "house", "Ctrl+Home", menu="", at=7)
        self.choose_engine = add("choose_engine", "Engine of the agent…", "gears", menu="Run", at=41)
        openers = self.open_agent, self._open_database, self._open_url, self._attach
        self.welcome = places.page("welcome", WelcomePage(sample_cards(), openers))
        self._choice = places.page("agent_choice", AgentChoicePage())
        self._trust = places.page("trust", TrustPage())
        self.problem = places.page("problem", ProblemPage("open_problem"))
        self._install = places.page("install", InstallPage())
        self.session_problem = places.in_the_middle("session_problem", ProblemPage("session_problem"))
        self._database_hint = places.hint("database_hint", SUGGESTS)
        self._app_hint = places.hint("app_hint", SUGGESTS)
        self._agent_hint = places.hint("agent_hint", WARNS)

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        agents, databases, run, tasks, messages = work.agents, work.databases, work.run, work.tasks, work.messages
        places, window = self.places, self.places.window
        self.opening = opening = OpeningController(work, self.welcome, self._choice, self._trust, self.problem, self._database_hint)
        installing = InstallController(work, self._trust, self.problem, self._install, self)  # adds to what opening shows of a failure
        self.open_agent.triggered.connect(lambda: ask_for_agent(window, opening.open_path))
        self._open_database.triggered.connect(lambda: ask_for_database(window, opening.open_path))
        self.open_eval_set.triggered.connect(lambda: ask_for_eval_set(window, opening.eval_set_found.emit))
        self.problem.another_requested.connect(self._open_database.trigger)
        DropTarget(window, opening.open_dropped).drag_changed.connect(self.welcome.show_drop)
        self._open_url.triggered.connect(opening.ask_for_url)
        self._start_page.triggered.connect(opening.show_start_page)
        self.servers = ServerController(work, partial(ask_for_app, window), self)
        self.changes = AgentChanges(agents, run, tasks, messages, self._agent_hint)
        self.engines = EngineController(agents, run, tasks, messages, EngineMenu(window))
        self.choose_engine.triggered.connect(lambda: (self.servers if agents.server else self.engines).ask())
        self.attaching = AttachController(databases, run, tasks, messages, self._app_hint, window)
        self._attach.triggered.connect(self.attaching.ask)
        self.attaching.database_requested.connect(opening.open_path)
        for ready in (opening.agent_ready, self.servers.agent_ready):
            ready.connect(lambda title, hint: places.ready_for_sessions.emit(title, hint, "The first message begins one."))
        self.attaching.engine_changed.connect(lambda text: opening.engine_changed.emit(text or opening.engine_text))
        self.attaching.attached.connect(self._on_attached)
        for asking in (opening, installing):
            asking.page_requested.connect(places.page_requested)
        for here in (opening, self.attaching):
            here.workbench_requested.connect(places.workbench_requested)
        work.current.session_failed.connect(self._on_session_failed)
        self.session_problem.given_up.connect(lambda: work.cursor.select_session(None))
        self._run, self._cursor = run, work.cursor
        places.availability_changed.connect(self._allow)

    def _on_session_failed(self, address: SessionAddress, error: Exception) -> None:
        text = str(error) if isinstance(error, KnownError) else error_text(error)
        details = None if isinstance(error, KnownError) else format_traceback(error)
        self.session_problem.show_problem(f"Session {address.key.session_id} could not be read", text, details)
        self.places.middle_requested.emit(self.session_problem)

    def _on_attached(self, title: str, hint: str) -> None:
        if self._cursor.session is None:
            self.places.ready_for_sessions.emit(title, hint, "Those that the app uses are listed here.")

    def _allow(self) -> None:
        busy = None if self._run.phase == "idle" else self._run.blocked("new_session")
        allow(self._attach, busy, "Watch, hold and step an app that is running on this machine")
