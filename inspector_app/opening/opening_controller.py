"""What is opened: agents and databases, from the command line, a drop, a dialog, a recent item or a sample."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.engines import embedded
from inspector_app.engines.agent_loader import LoadedAgent
from inspector_app.engines.samples import is_bundled, samples
from inspector_app.opening.url_dialog import UrlDialog
from inspector_app.opening.welcome import SampleCard
from inspector_app.presentation.message import Message
from inspector_app.presentation.values import error_text
from inspector_app.shell.parts import Parts
from inspector_app.shell.window_status import WindowStatus
from inspector_app.workspace.messages import format_traceback
from runtime.errors.known_error import KnownError
from runtime.errors.storage_error import ForeignDatabaseError, NotASessionDatabaseError
from runtime.storage.connections.database_url import database_url, keep_password, without_written_password
from runtime.storage.open_service import make_database

ADK_WEB_DATABASE = Path(".adk") / "session.db"

LOADING_MS = 1_000
"""How long an agent is loaded before more is said of it, milliseconds."""

DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
"""What a database is called that is made because it is not there yet."""


class OpeningController(QObject):
    """Opens what is asked for, and shows the page that belongs to it: a question, a problem, or the workbench.

    Signals:
        other_database_found(str, str): a file holds tables, but no sessions; its path, and what it is.

    Args:
        parts: of the window.
        status: says what can be done once an agent is there.
    """

    other_database_found = Signal(str, str)

    def __init__(self, parts: Parts, status: WindowStatus, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.window = parts.window
        self._status = status
        self._settings = parts.settings
        self._messages = parts.messages
        self._tasks = parts.tasks
        self._cursor = parts.cursor
        self._agents = parts.agents
        self._browse = parts.browse
        self._retry_path = ""
        self._offered_database = ""
        self._names_several = False
        self._loading = ""
        self.window.welcome.set_recent(self._settings.recent)
        self._connect_signals()

    def _connect_signals(self) -> None:
        window, bench = self.window, self.window.workbench
        window.paths_dropped.connect(self._on_paths_dropped)
        window.agent_chosen.connect(self._spawn_open)
        window.database_chosen.connect(self._spawn_open)
        window.welcome.item_chosen.connect(self._spawn_open)
        window.welcome.sample_chosen.connect(self._on_sample_chosen)
        window.trust.trusted.connect(self._on_trusted)
        window.trust.declined.connect(self.show_home)
        window.work_asked.connect(self._on_work_asked)
        window.problem.retry.connect(self._on_retry)
        window.problem.given_up.connect(self.show_home)
        window.problem.another_asked.connect(window.commands.open_database.trigger)
        window.commands.open_url.triggered.connect(self._on_open_url)
        window.commands.start_page.triggered.connect(self._on_start_page)
        bench.database_hint.accepted.connect(self._on_open_offered)
        self._agents.trust_asked.connect(self._on_trust_asked)
        self._agents.loading.connect(self._on_loading)
        self._agents.agent_loaded.connect(self._on_agent_loaded)
        self._agents.agent_failed.connect(self._on_open_failed)
        self._browse.database_failed.connect(self._on_open_failed)

    async def open_paths(self, paths: list[str]) -> None:
        """Open what the command line, a drop, a dialog or a recent item named: databases first, then agents.

        Args:
            paths: agent folders or files, session databases, URLs of databases. A database that is named together with an agent need
                not exist yet: it is made, to keep the agent's sessions, as `run --db` makes it.
        """
        self._names_several = len(paths) > 1
        agents = [path for path in paths if _is_agent(path)]
        is_shown = False
        for path in paths:
            if path not in agents:
                is_shown |= await self._open_named(path, may_be_new=bool(agents), show=not is_shown)
        for path in agents:
            await self._agents.open(path)

    async def _open_named(self, path: str, *, may_be_new: bool, show: bool) -> bool:
        try:
            target = _database_target(path)
        except KnownError as error:
            self._on_open_failed(without_written_password(path), error)
            return False
        target = self._name_it_has(target)
        if may_be_new and _is_new_database(target):
            try:
                await make_database(target)
            except KnownError as error:
                self._on_open_failed(target, error)
                return False
            self._messages.info(f"{target} is a new database: sessions that you begin now are kept in it.")
        return await self._open_database(target, show=show)

    def _name_it_has(self, target: str) -> str:
        """Return the name by which a file is open already: one database is listed once, by whatever way its path leads to it."""
        same = (source.target for source in self._browse.sources if _are_one_file(source.target, target))
        return next(same, target)

    async def _open_database(self, target: str, *, show: bool = True) -> bool:
        """Open a database and go to the session that is looked at first; return whether one is on show."""
        source = await self._browse.open_database(target, scan=False)
        if source is None:
            return False
        self._settings.add_recent(target)
        self.window.welcome.set_recent(self._settings.recent)
        self.window.show_page(self.window.workbench)
        before = self._cursor.session
        is_on_show = before is not None and before.database == source.target
        if show and not is_on_show and (best := await self._browse.most_interesting(source)) is not None:
            self._cursor.select_session(SessionAddress(source.target, best))
            await self._browse.wait_until_loaded()
            is_on_show = True
        self._browse.scan(source)
        return is_on_show

    def _on_open_url(self) -> None:
        self._ask_for_url()

    def _ask_for_url(self, url: str = "", problem: str = "") -> None:
        dialog = UrlDialog(url, problem, wrong_url=bool(problem) and not _is_database_url(url), parent=self.window)
        dialog.chosen.connect(self._on_url_chosen)
        dialog.open()

    def _on_url_chosen(self, url: str, password: str) -> None:
        try:
            target = keep_password(url, password)
        except KnownError as error:
            self._ask_for_url(without_written_password(url), str(error))
            return
        self._tasks.spawn(self._open_database(target), "Opening a database on a server")

    def _spawn_open(self, path: str) -> None:
        self._tasks.spawn(self.open_paths([path]), f"Opening {Path(path).name}")

    def _on_paths_dropped(self, paths: list[str]) -> None:
        self._tasks.spawn(self.open_paths(paths), "Opening what was dropped")

    def _on_sample_chosen(self, name: str) -> None:
        folder = next(sample.folder for sample in samples() if sample.name == name)
        self._tasks.spawn(self.open_paths([str(folder)]), f"Opening the {name} sample")

    def _on_trusted(self, path: str) -> None:
        self._tasks.spawn(self._agents.trust_and_load(path), f"Loading {Path(path).name}")

    def _on_retry(self) -> None:
        self.show_home()
        self._spawn_open(self._retry_path)

    def _on_start_page(self) -> None:
        self.window.show_page(self.window.welcome)

    def show_home(self) -> None:
        """Go where something is to be seen: the workbench if anything is open, else the start page."""
        anything = bool(self._browse.sources) or self._agents.loaded is not None
        self.window.show_page(self.window.workbench if anything else self.window.welcome)

    def _on_work_asked(self) -> None:
        if self.window.page is not self.window.workbench:
            self.show_home()

    def _on_open_offered(self) -> None:
        self.window.workbench.database_hint.hide()
        self._spawn_open(self._offered_database)

    def _on_trust_asked(self, path: str, folder: Path, files: list[str]) -> None:
        self.window.trust.ask(path, folder, files)
        self.window.show_page(self.window.trust)

    def _on_loading(self, path: str) -> None:
        self._loading = path
        self.window.status.show_engine(f"loading {Path(path).name}…")
        QTimer.singleShot(LOADING_MS, self, partial(self._tell_loading, path))

    def _tell_loading(self, path: str) -> None:
        if self._loading == path:
            self._messages.info(f"{path} is being loaded: its code runs, which may take a while.")

    def _loading_ended(self) -> None:
        loaded = self._agents.loaded
        self._loading = ""
        self.window.status.show_engine(f"{loaded.name} · {embedded.TITLE}" if loaded is not None else "")

    def _on_agent_loaded(self, loaded: LoadedAgent) -> None:
        if not is_bundled(loaded.folder):  # those have their cards
            self._settings.add_recent(str(loaded.folder))
            self.window.welcome.set_recent(self._settings.recent)
        self.window.show_page(self.window.workbench)
        self._loading_ended()
        self._messages.info(f"Loaded {loaded.name} from {loaded.folder}.", quiet=True)
        if self._cursor.session is None:
            example = next((f' Try "{sample.example}".' for sample in samples() if sample.folder == loaded.folder), "")
            hint = f"Write a message below; a new session is made for it.{example}"
            self.window.workbench.stream.set_empty_text(f"{loaded.name} is ready", hint)
            self.window.workbench.sessions.set_empty_text("No sessions yet", "The first message begins one.")
            self.window.workbench.composer.focus()
        self._offer_database(loaded.folder / ADK_WEB_DATABASE)
        self._status.show_session_hints()
        self._status.show_run()

    def _offer_database(self, database: Path) -> None:
        self._offered_database = str(database)
        hint = self.window.workbench.database_hint
        if database.is_file() and self._browse.source(str(database)) is None:
            hint.suggest("This agent has sessions of adk web in .adk/session.db.", "Open them", "database", "accent")
        else:
            hint.hide()

    def _on_open_failed(self, target: str, error: Exception) -> None:
        if "://" not in target and isinstance(error, ForeignDatabaseError):
            self._messages.warning(str(error), quiet=not self._names_several)
            self.other_database_found.emit(target, str(error))
            return
        if "://" in target and isinstance(error, KnownError) and self.window.isVisible():
            # Most often it is the password: it can be given at once.
            self._messages.posted.emit(Message("error", str(error), None, quiet=True))
            self._ask_for_url(target, str(error))
            return
        if target == self._loading:
            self._loading_ended()
        self._retry_path = target
        if "://" not in target and not Path(target).exists():
            self._settings.remove_recent(target)
            self.window.welcome.set_recent(self._settings.recent)
        text = str(error) if isinstance(error, KnownError) else error_text(error)
        details = getattr(error, "traceback", None) if isinstance(error, KnownError) else format_traceback(error)
        name = target.rsplit("/", 1)[-1] or target
        no_use = isinstance(error, NotASessionDatabaseError)
        self.window.problem.show_problem(f"{name} could not be opened", text, details, offers_another=no_use)
        self.window.show_page(self.window.problem)
        self._messages.posted.emit(Message("error", text, details, quiet=not self._names_several))


def _is_agent(path: str) -> bool:
    return "://" not in path and (Path(path).expanduser().is_dir() or path.endswith(".py"))


def _is_database_url(url: str) -> bool:
    try:
        database_url(url)
    except KnownError:
        return False
    return True


def _is_new_database(target: str) -> bool:
    return "://" not in target and target.endswith(DATABASE_SUFFIXES) and not Path(target).exists()


def _database_target(path: str) -> str:
    """Return what names a database wherever the process stands, without a password."""
    return keep_password(path) if "://" in path else str(Path(path).expanduser().absolute())


def _are_one_file(one: str, other: str) -> bool:
    try:
        return one == other or Path(one).samefile(other)
    except OSError:  # one of them is no file
        return False


SAMPLE_ICONS = {"story": "book-open", "orders": "cart-shopping"}


def sample_cards() -> list[SampleCard]:
    """Return what the welcome page offers to begin with."""
    return [SampleCard(sample.name, sample.name, sample.text, SAMPLE_ICONS.get(sample.name, "robot")) for sample in samples()]
