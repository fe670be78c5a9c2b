"""Opening agents and databases: from the command line, a drop, a dialog, a recent item or a sample."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import Source
from inspector_app.engines.protocol import Agent
from inspector_app.engines.samples import is_bundled, samples
from inspector_app.exchange.capsule import is_capsule
from inspector_app.exchange.formats import is_eval_set_name
from inspector_app.exchange.otlp_sessions.trace_files import is_trace_file
from inspector_app.opening.agent_choice_page import AgentChoicePage
from inspector_app.opening.host_dialog import HostDialog
from inspector_app.opening.problem_page import ProblemPage
from inspector_app.opening.trust_page import TrustPage
from inspector_app.opening.url_dialog import UrlDialog
from inspector_app.opening.welcome import SampleCard, WelcomePage
from inspector_app.presentation.code_link import CodeLink
from inspector_app.presentation.message import Message
from inspector_app.presentation.trust_question import TrustQuestion
from inspector_app.remote.server_address import ForeignHostError, server_target
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.messages import format_traceback
from inspector_app.workspace.workspace import Workspace
from runtime.errors.known_error import KnownError
from runtime.errors.storage_error import EmptyDatabaseError, ForeignDatabaseError, NotASessionDatabaseError
from runtime.storage.connections.database_url import (
    check_not_mistyped,
    database_url,
    is_remote,
    keep_password,
    typed_passwords,
    without_written_password,
)
from runtime.storage.open_service import make_database
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.lazy import lazy_module
from runtime.support.texts import error_text
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from inspector_app.exchange import capsule_session
    from inspector_app.exchange.otlp_sessions import trace_database
else:
    capsule_session = lazy_module("inspector_app.exchange.capsule_session")
    trace_database = lazy_module("inspector_app.exchange.otlp_sessions.trace_database")

ADK_WEB_DATABASE = Path(".adk") / "session.db"

LOADING_MS = 1_000  # until a message explains that an agent is still loading; most agents load faster
MAX_NEW = 1_000_000  # bytes; a larger file has more than tables without rows
DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")  # a missing file is created only with one of these


class OpeningController(QObject):
    """A controller that opens the agents and databases that the user names, and fills the trust and problem pages.

    Signals:
        page_requested(QWidget): the welcome, trust or problem page should be displayed.
        workbench_requested: the workbench should be displayed.
        engine_changed(str): the agent with its engine, or the agent being loaded; empty if there is none.
        agent_ready(str, str): an agent was loaded and no session is selected; a title and a hint for the empty stream.
        foreign_database_found(str, str): a file has tables but no sessions; its path and a description.
        eval_set_found(str): an eval set is to be opened; its path.

    Args:
        work: the owners.
        welcome: the start page.
        choice: asks which of several agents to load.
        trust: asks whether to run an agent's code.
        problem: shows why a path could not be opened.
        database_hint: offers the agent's own database.
    """

    page_requested = Signal(object)
    workbench_requested = Signal()
    engine_changed = Signal(str)
    agent_ready = Signal(str, str)
    foreign_database_found = Signal(str, str)
    eval_set_found = Signal(str)

    def __init__(
        self, work: Workspace, welcome: WelcomePage, choice: AgentChoicePage, trust: TrustPage, problem: ProblemPage, database_hint: HintBar
    ) -> None:
        super().__init__(database_hint)
        self._work = work
        self._welcome = welcome
        self._choice = choice
        self._trust = trust
        self._problem = problem
        self._database_hint = database_hint
        self._retry_path = ""
        self._offered_database = ""
        self._names_several = False
        self._loading = ""
        work.databases.trusted_hosts = lambda: work.preferences.trusted_hosts
        self._show_recent()
        self._connect_signals()

    def _connect_signals(self) -> None:
        self._welcome.item_chosen.connect(self.open_path)
        self._welcome.sample_chosen.connect(self._on_sample_chosen)
        self._choice.chosen.connect(self.open_path)
        self._choice.declined.connect(self.show_home)
        self._trust.trusted.connect(self._on_trusted)
        self._trust.declined.connect(self.show_home)
        self._problem.retry.connect(self._on_retry)
        self._problem.given_up.connect(self.show_home)
        self._database_hint.accepted.connect(self._on_open_offered)
        self._work.agents.choice_requested.connect(self._on_choice_requested)
        self._work.agents.trust_requested.connect(self._on_trust_requested)
        self._work.agents.loading.connect(self._on_loading)
        self._work.agents.agent_loaded.connect(self._on_agent_loaded)
        self._work.agents.agent_failed.connect(self._on_open_failed)
        self._work.agents.visited_changed.connect(self._on_visited_changed)
        self._work.traces.opened.connect(self._on_traces_opened)
        self._work.databases.database_failed.connect(self._on_open_failed)
        self._work.databases.database_listed.connect(self._on_database_listed)
        self._work.databases.database_closed.connect(self._show_recent)

    async def open_paths(self, paths: list[str]) -> None:
        """Open databases first, then agents.

        Args:
            paths: agent folders or files, session databases, and database URLs. If a database is missing and an agent is also named,
                the database is created for the agent's sessions, as `run --db` does.
        """
        paths = [found for path in paths for found in await self._unpacked(path)]
        self._names_several = len(paths) > 1
        agents = [path for path in paths if _is_agent(path)]
        sets = [path for path in paths if is_eval_set_name(path)]
        paths = [path for path in paths if path not in sets]
        is_shown = False
        for path in paths:
            if path not in agents:
                is_shown |= await self._open_named(path, may_be_new=bool(agents), show=not is_shown)
        for path in agents:
            await self._work.agents.open(path)
        for path in sets:
            self._open_eval_set(path)

    def _show_recent(self) -> None:
        """Show the recent items, unsaved sessions of earlier windows first."""
        left = {source.target: source.title for source in self._work.databases.sources if source.is_left}
        self._welcome.set_recent([*left, *self._work.preferences.recent], left)

    def _open_eval_set(self, path: str) -> None:
        place = Path(path).expanduser().absolute()
        if place.is_file():
            self._work.preferences.add_recent(str(place))
        else:
            self._work.preferences.remove_recent(str(place))
        self._show_recent()
        self.eval_set_found.emit(str(place))

    async def _unpacked(self, path: str) -> tuple[str, ...]:
        """Return the path, or what a capsule or a file of traces was unpacked into until the window is closed."""
        if await run_in_thread(is_trace_file, path):
            return await self._unpacked_traces(path)
        if not await run_in_thread(is_capsule, path):
            return (path,)
        try:
            found = tuple(map(str, await run_in_thread(lambda: capsule_session.unpack_into_new(path, self._work.databases.window_folder))))
        except KnownError as error:
            self._on_open_failed(path, error)
            return ()
        self._work.messages.info(f"{path} was unpacked. Its agent repeats what was recorded. What you run here is deleted with the window.")
        return found

    async def _unpacked_traces(self, path: str) -> tuple[str, ...]:
        parent = self._work.databases.window_folder
        try:
            database, left_out = await run_in_thread(
                lambda: trace_database.unpack_traces(path, Path(mkdtemp(prefix="traces-", dir=parent)))
            )
        except KnownError as error:
            self._on_open_failed(path, error)
            return ()
        self._work.messages.info(f"{path} was read. {left_out} What is shown is a copy that is deleted with the window.".replace("  ", " "))
        return (str(database),)

    async def _open_named(self, path: str, *, may_be_new: bool, show: bool) -> bool:
        try:
            target = _database_target(path)
        except KnownError as error:
            self._on_open_failed(without_written_password(path), error)
            return False
        target = self._name_it_has(target)
        try:
            if await run_in_thread(_is_new_database, target, may_be_new):
                await make_database(target)
                self._work.messages.info(f"{target} is a new database. New sessions are stored in it.")
        except KnownError as error:
            self._on_open_failed(target, error)
            return False
        return await self._open_database(target, show=show)

    def _name_it_has(self, target: str) -> str:
        """Return the name under which the same file is already open, so that it is listed once; otherwise `target`."""
        same = (source.target for source in self._work.databases.sources if _are_one_file(source.target, target))
        return next(same, target)

    async def _open_database(self, target: str, *, show: bool = True) -> bool:
        """Open a database and select the session to display first; return whether one of its sessions is displayed."""
        source = await self._work.databases.open_database(target, scan=False)
        if source is None:
            return False
        if not source.is_unsaved:
            self._work.preferences.add_recent(target)
        self._show_recent()
        self.workbench_requested.emit()
        before = self._work.cursor.session
        is_on_show = before is not None and before.database == source.target
        if show and not is_on_show and (best := await self._work.databases.most_interesting(source)) is not None:
            self._work.cursor.select_session(SessionAddress(source.target, best))
            await self._work.current.wait_until_loaded()
            is_on_show = True
        self._work.databases.scan(source)
        return is_on_show

    def _on_traces_opened(self, address: SessionAddress) -> None:
        self.workbench_requested.emit()
        if self._work.cursor.session is None:
            self._work.cursor.select_session(address)

    def _on_database_listed(self, source: Source, _sessions: object) -> None:
        if source.is_left:
            self._show_recent()

    def ask_for_url(self) -> None:
        """Ask for the URL of a server."""
        self._ask_for_url()

    def _ask_for_url(self, url: str = "", problem: str = "") -> None:
        dialog = UrlDialog(url, problem, wrong_url=bool(problem) and not _is_database_url(url), parent=self._welcome.window())
        dialog.chosen.connect(self._on_url_chosen)
        dialog.open()

    def _on_url_chosen(self, url: str, password: str) -> None:
        try:
            target = server_target(url, password) if is_remote(url) else keep_password(url, password)
        except KnownError as error:
            self._ask_for_url(without_written_password(url), str(error))
            return
        self._work.tasks.spawn(self._open_database(target), "Opening a server")

    def _ask_for_host(self, target: str, error: ForeignHostError) -> None:
        if not self._welcome.window().isVisible():
            self._work.messages.post(Message("error", str(error), None))
            return
        dialog = HostDialog(error.host, self._welcome.window())

        def on_allowed() -> None:
            self._work.preferences.trust_host(error.host)
            self.open_path(target)

        dialog.connect_button.clicked.connect(on_allowed)
        dialog.open()

    def open_path(self, path: str) -> None:
        """Open one agent or database in the background."""
        self._work.tasks.spawn(self.open_paths([path]), f"Opening {Path(without_written_password(path)).name}")

    def open_dropped(self, paths: list[str]) -> None:
        """Open files and folders that were dropped onto the window, in the background."""
        self._work.tasks.spawn(self.open_paths(paths), "Opening the dropped files")

    def _on_sample_chosen(self, name: str) -> None:
        folder = next(sample.folder for sample in samples() if sample.name == name)
        self._work.tasks.spawn(self.open_paths([str(folder)]), f"Opening the {name} sample")

    def _on_trusted(self, question: TrustQuestion, changes: bool) -> None:
        self._work.tasks.spawn(self._work.agents.trust_and_load(question, changes=changes), f"Loading {Path(question.path).name}")

    def _on_retry(self) -> None:
        self.show_home()
        self.open_path(self._retry_path)

    def show_start_page(self) -> None:
        """Show the start page."""
        self.page_requested.emit(self._welcome)

    def show_home(self) -> None:
        """Show the workbench if anything is open, else the start page."""
        if self._work.databases.sources or self._work.agents.loaded is not None:
            self.workbench_requested.emit()
        else:
            self.page_requested.emit(self._welcome)

    def _on_open_offered(self) -> None:
        self._database_hint.hide()
        self.open_path(self._offered_database)

    def _on_choice_requested(self, path: str, names: Sequence[str]) -> None:
        self._choice.ask(path, names)
        self.page_requested.emit(self._choice)

    def _on_trust_requested(self, question: TrustQuestion) -> None:
        self._trust.ask(question)
        self.page_requested.emit(self._trust)

    def _on_loading(self, path: str) -> None:
        self._loading = path
        self.engine_changed.emit(f"loading {Path(path).name}…")
        QTimer.singleShot(LOADING_MS, self, partial(self._tell_loading, path))

    def _tell_loading(self, path: str) -> None:
        if self._loading == path:
            self._work.messages.info(_still_loading(path))

    def _loading_ended(self) -> None:
        self._work.messages.withdraw(_still_loading(self._loading))
        self._loading = ""
        self.engine_changed.emit(self.engine_text)

    @property
    def engine_text(self) -> str:
        """The loaded agent with its engine; empty if there is none."""
        loaded = self._work.agents.loaded
        return f"{loaded.name} · {loaded.engine_title}" if loaded is not None else ""

    def _on_visited_changed(self) -> None:
        self.engine_changed.emit(self.engine_text)

    def _on_agent_loaded(self, loaded: Agent) -> None:
        if self._work.agents.server:
            return
        if not is_bundled(loaded.folder):  # samples have cards on the start page
            self._work.preferences.add_recent(_named_again(self._work.agents.path))
            self._show_recent()
        self.workbench_requested.emit()
        self._loading_ended()
        self._work.messages.info(f"Loaded {loaded.name} from {loaded.folder}.", quiet=True)
        if self._work.cursor.session is None:
            example = next((f' Try "{sample.example}".' for sample in samples() if sample.folder == loaded.folder), "")
            hint = f"Write a message below to start a new session.{example}"
            self.agent_ready.emit(f"{loaded.name} is ready", hint)
        self._offer_database(loaded.folder / ADK_WEB_DATABASE)

    def _offer_database(self, database: Path) -> None:
        self._offered_database = str(database)
        hint = self._database_hint
        if database.is_file() and self._work.databases.source(str(database)) is None:
            hint.suggest("This agent has sessions of adk web in .adk/session.db.", "Open", "database", "accent")
        else:
            hint.hide()

    def _on_open_failed(self, target: str, error: Exception) -> None:
        if "://" not in target and isinstance(error, ForeignDatabaseError):
            self._work.messages.warning(str(error), quiet=not self._names_several)
            self.foreign_database_found.emit(target, str(error))
            return
        if isinstance(error, ForeignHostError):
            self._ask_for_host(target, error)
            return
        if "://" in target and isinstance(error, KnownError) and self._welcome.window().isVisible():
            # The usual cause is a wrong password, so ask for it.
            self._work.messages.post(Message("error", str(error), None, quiet=True))
            self._ask_for_url(target, str(error))
            return
        if target == self._loading:
            self._loading_ended()
        if choices := getattr(error, "choices", ()):
            self._on_choice_requested(target, choices)
            return
        self._retry_path = target
        if "://" not in target and not Path(target).exists():
            self._work.preferences.remove_recent(target)
            self._show_recent()
        text = str(error) if isinstance(error, KnownError) else error_text(error)
        details = getattr(error, "traceback", None) if isinstance(error, KnownError) else format_traceback(error)
        name = target.rsplit("/", 1)[-1] or target
        no_use = isinstance(error, NotASessionDatabaseError)
        self._problem.show_problem(f"{name} could not be opened", text, details, offers_another=no_use, code=_code_link(error))
        self.page_requested.emit(self._problem)
        self._work.messages.post(Message("error", text, details, quiet=not self._names_several))


def _code_link(error: Exception) -> CodeLink | None:
    file, line = getattr(error, "file", None), getattr(error, "line", None)
    return CodeLink("the failure", file, line) if isinstance(file, str) and isinstance(line, int) else None


def _still_loading(path: str) -> str:
    return f"{path} is being loaded: its code runs, which may take a while."


def _named_again(path: str) -> str:
    """Return the path that loads the same agent again: its folder, or the file if its name is its own."""
    place = Path(path).expanduser().absolute()
    return str(place.parent if place.name in ("agent.py", "__init__.py", "root_agent.yaml") and place.is_file() else place)


def _is_agent(path: str) -> bool:
    return (
        "://" not in path
        and not typed_passwords([path])
        and (Path(path).expanduser().is_dir() or path.endswith((".py", "root_agent.yaml")))
    )


def _is_database_url(url: str) -> bool:
    try:
        server_target(url) if is_remote(url) else database_url(url)
    except KnownError:
        return False
    return True


def _is_new_database(target: str, may_be_missing: bool) -> bool:
    """Return whether a file's tables are to be created: it does not exist, or the program that created it was killed before it had them."""
    if "://" in target or not target.endswith(DATABASE_SUFFIXES):
        return False
    file = Path(target)
    if not file.exists():
        return may_be_missing
    try:
        if file.stat().st_size < MAX_NEW:
            StoredDatabase.open(target).close()
    except EmptyDatabaseError:
        return os.access(target, os.W_OK) and (may_be_missing or file.stat().st_size > 0)
    except (KnownError, OSError):  # reported when it is opened
        pass
    return False


def _database_target(path: str) -> str:
    """Return a database's absolute path, or its URL without the password."""
    if is_remote(path):
        return server_target(path)
    if "://" in path:
        return keep_password(path)
    check_not_mistyped(path)
    return str(Path(path).expanduser().absolute())


def _are_one_file(one: str, other: str) -> bool:
    try:
        return one == other or Path(one).samefile(other)
    except OSError:  # one of them is not a file
        return False


SAMPLE_ICONS = {"story": "book-open", "orders": "cart-shopping"}


def sample_cards() -> list[SampleCard]:
    """Return the start page's cards of sample agents."""
    return [SampleCard(sample.name, sample.name, sample.text, SAMPLE_ICONS.get(sample.name, "robot")) for sample in samples()]
