"""Builds the controllers of one window and connects the features, which do not know each other."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QWidget

from inspector_app.branches.compare_controller import CompareController
from inspector_app.branches.fork_controller import ForkController
from inspector_app.branches.fork_origin import ForkOriginController
from inspector_app.branches.rewind_controller import RewindController
from inspector_app.capsules.capsule_controller import CapsuleController
from inspector_app.capsules.replay_controller import ReplayController
from inspector_app.databases.database_page_controller import DatabasePageController
from inspector_app.databases.foreign_database_controller import ForeignDatabaseController
from inspector_app.detail.artifact_controller import ArtifactController
from inspector_app.detail.code_controller import CodeController
from inspector_app.detail.detail_controller import DetailController
from inspector_app.detail.media_controller import MediaController
from inspector_app.detail.note_controller import NoteController
from inspector_app.detail.output_controller import OutputController
from inspector_app.detail.request_controller import RequestController
from inspector_app.detail.send_again_controller import SendAgainController
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import SessionDocument
from inspector_app.documents.session_ranges import SessionReader
from inspector_app.engines.running_apps import RunningApp
from inspector_app.evals.eval_controller import EvalController
from inspector_app.evals.repeat_controller import RepeatController
from inspector_app.findings.findings_controller import FindingsController
from inspector_app.graph.graph_controller import GraphController
from inspector_app.opening.agent_changes import AgentChanges
from inspector_app.opening.attach_controller import AttachController
from inspector_app.opening.engine_controller import EngineController
from inspector_app.opening.engine_menu import EngineMenu
from inspector_app.opening.opening_controller import OpeningController
from inspector_app.opening.server_controller import ServerController
from inspector_app.presentation.author_colours import AuthorColours
from inspector_app.presentation.costs import cost_text
from inspector_app.presentation.message import Message
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import own_prices
from inspector_app.running.breakpoint_controller import BreakpointController
from inspector_app.running.drafts import Drafts
from inspector_app.running.held_controller import HeldController
from inspector_app.running.pending_controller import PendingController
from inspector_app.running.recording_controller import RecordingController
from inspector_app.running.resume_controller import ResumeController
from inspector_app.running.run_commands import RunCommands
from inspector_app.sessions.deletion_controller import DeletionController
from inspector_app.sessions.exchange_controller import ExchangeController
from inspector_app.sessions.search_controller import SearchController
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.sessions.sessions_controller import SessionsController
from inspector_app.sessions.sizes_controller import SizesController
from inspector_app.shell.background_notices import BackgroundNotices
from inspector_app.shell.leave_controller import LeaveController
from inspector_app.shell.main_window import MainWindow
from inspector_app.shell.output_log import OutputLog
from inspector_app.shell.pane_pictures import PanePictures
from inspector_app.shell.settings_controller import SettingsController
from inspector_app.shell.window_status import WindowStatus
from inspector_app.state.files_controller import FilesController
from inspector_app.state.pin_controller import PinController
from inspector_app.state.state_edits import StateEditController
from inspector_app.state.writers_controller import WritersController
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.stream.saved_filters_controller import SavedFilterController
from inspector_app.stream.scroll_marks import ScrollMarks
from inspector_app.stream.stream_controller import StreamController
from inspector_app.stream.tool_agent_events import ToolAgentEvents
from inspector_app.support.preferences import Preferences
from inspector_app.support.tasks import Tasks
from inspector_app.timeline.timeline_controller import TimelineController
from inspector_app.timeline.turns_controller import TurnsController
from inspector_app.widgets import theme
from inspector_app.workspace.agent_runs import AgentRuns
from inspector_app.workspace.breakpoint_store import BreakpointStore
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.live_tail import LiveTail
from inspector_app.workspace.manual_events import ManualEvents
from inspector_app.workspace.messages import MessageBus, format_traceback
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from inspector_app.workspace.session_costs import SessionCosts
from inspector_app.workspace.session_notes import SessionNotes
from inspector_app.workspace.traceback_store import TracebackStore
from inspector_app.workspace.unsaved_sessions import UnsavedSessions
from inspector_app.workspace.working_copy import WorkingCopy
from inspector_app.workspace.write_access import WriteAccess
from inspector_app.workspace.written_output import WrittenOutput
from runtime.errors.known_error import KnownError
from runtime.support.texts import error_text


class WindowController(QObject):
    """A controller that connects the features of one window.

    Controllers connect themselves to the owners and to their own widgets; `_connect_signals` holds every connection between features.

    Attributes:
        window: the window.
        events: the Qt model behind the stream.
        sessions: the Qt model behind the session list.
        stream: displays and filters the events.
        tail: watches the open databases.
        search: searches all sessions of a database.
        database_page: shows what a database holds beside its sessions.
        foreign_database: shows a database without sessions.

    Signals:
        close_requested: the user wants the window closed.

    Args:
        app: the QApplication, for the theme.
        preferences, tasks, messages, cursor, agents, catalog, databases, current, breakpoints, run, output, unsaved: the owners.
        colours: the authors' colours in this window.
        events, sessions, window: what the user sees.
    """

    close_requested = Signal()

    def __init__(
        self,
        app: QApplication,
        preferences: Preferences,
        tasks: Tasks,
        messages: MessageBus,
        cursor: Cursor,
        agents: CurrentAgent,
        catalog: SessionCatalog,
        databases: OpenDatabases,
        current: CurrentSession,
        breakpoints: BreakpointStore,
        run: CurrentRun,
        output: WrittenOutput,
        unsaved: UnsavedSessions,
        colours: AuthorColours,
        events: EventTableModel,
        sessions: SessionTreeModel,
        window: MainWindow,
    ) -> None:
        super().__init__()
        self._app = app
        self._preferences = preferences
        self._tasks = tasks
        self._messages = messages
        self._cursor = cursor
        self._databases = databases
        self._current = current
        self.window = window
        self._compared_on: QWidget = window.workbench
        self.events = events
        self.sessions = sessions
        bench, commands = window.workbench, window.commands

        # Controllers of one owner's signal run in the order in which they are made: the stream shows a session before others add to it.
        commits = ManualEvents(agents, current, run, tasks, messages)
        write_access = WriteAccess(databases, current, tasks, messages, self)
        working_copy = WorkingCopy(cursor, databases, current, tasks, messages, self)
        SessionsController(cursor, catalog, current, sessions, bench.sessions)
        notes = self._stored_notes = SessionNotes(current, tasks, self)
        held = HeldController(run, agents, bench.held, self)
        self.stream = StreamController(
            cursor,
            current,
            run,
            breakpoints,
            notes,
            tasks,
            messages,
            preferences,
            commands,
            events,
            bench.stream,
            bench.filter_bar,
            held_place=lambda: held.place,
        )
        ScrollMarks(current, run, self.stream, notes, tasks, events, bench.stream.table.bar)
        SavedFilterController(cursor, preferences, bench.filter_bar.saved)
        self._tool_agent_events = ToolAgentEvents(run, current, cursor, events, bench.stream)

        prices = Prices(own_prices(preferences.prices))
        costs = SessionCosts(current, prices, tasks, self)
        events.set_costs(lambda group: cost_text(found) if (found := costs.of_group(group)) is not None else "")
        costs.changed.connect(bench.stream.table.viewport().update)
        pictures = PanePictures(window)
        pictures.done.connect(messages.info)
        pictures.failed.connect(messages.warning)
        SettingsController(preferences, prices, costs, tasks, window)
        self._leaving = LeaveController(unsaved, preferences, tasks, messages, window, self)
        recording = RecordingController(run, preferences, self)
        window.commands.record_requests.setChecked(preferences.records_requests)
        window.commands.record_requests.toggled.connect(recording.choose)
        reader = SessionReader()
        TimelineController(cursor, current, colours, reader, tasks, messages, bench.timeline)
        MediaController(tasks, messages, bench.detail)
        ArtifactController(current, tasks, messages, bench.detail)
        TurnsController(cursor, current, reader, prices, tasks, messages, bench.charts)
        GraphController(cursor, agents, current, run, colours, reader, prices, tasks, messages, bench.graph)
        requests = RequestController(run.requests, current, prices, tasks, messages, bench.detail)
        bench.stream.curl_requested.connect(requests.copy_as_curl)
        SendAgainController(requests, agents, prices, tasks, bench.detail)
        OutputController(output, TracebackStore(preferences.folder / "tracebacks"), current, tasks, bench.detail)
        self._code = CodeController(agents, output, preferences, tasks, messages, commands, bench.detail)
        OutputLog(output, messages, cursor, bench.log)
        DetailController(cursor, current, run, StateEditController(cursor, current, commits, self), bench.detail)
        FilesController(cursor, current, run, tasks, bench.detail.state.model, self)
        self._notes = NoteController(current, notes, commands, bench.detail, bench.note_hint)
        PinController(cursor, preferences, bench.detail.state)
        self._writers = WritersController(cursor, agents, current, tasks, messages, commands, bench.detail.state.tree, bench.writers, self)

        self._opening = OpeningController(
            cursor,
            agents,
            databases,
            current,
            preferences,
            tasks,
            messages,
            commands,
            window.welcome,
            window.agent_choice,
            window.trust,
            window.problem,
            bench.database_hint,
            self,
        )
        self._servers = ServerController(cursor, databases, agents, run, tasks, messages, self)
        AgentChanges(agents, run, tasks, messages, commands, bench.agent_hint, self)
        runs = AgentRuns(agents, databases, current, run, output, run.sessions, self)
        self.repeats = RepeatController(cursor, agents, databases, runs, prices, tasks, messages, commands, window.repeats, self)
        self.capsules = CapsuleController(cursor, agents, databases, tasks, messages, commands, bench.capsule_hint, self)
        self.replays = ReplayController(cursor, agents, databases, run, runs, tasks, messages, commands, bench.replay_hint, self)
        self.evals = EvalController(cursor, agents, databases, run, runs, tasks, commands, window.evals, self)
        self.foreign_database = ForeignDatabaseController(
            tasks, messages, commands, window.foreign_database, self._opening.open_paths, self
        )

        self._resume = ResumeController(
            cursor,
            agents,
            databases,
            current,
            run,
            write_access,
            working_copy,
            tasks,
            bench.resume_hint,
            bench.writing_hint,
            bench.preflight,
            self,
        )
        self._pending = PendingController(
            cursor, agents, databases, catalog, current, run, self._resume, commits, tasks, commands, bench.pending, self
        )
        self._breakpoints = BreakpointController(breakpoints, agents, run, bench.breakpoints, messages, self)
        self._drafts = Drafts(cursor, databases, run, bench.composer, self)
        self._run_commands = RunCommands(
            run,
            held,
            self._breakpoints,
            self._resume,
            messages,
            commands,
            bench.composer,
            self._drafts,
            lambda: self.stream.selected_event,
            self,
        )

        self._forks = ForkController(
            cursor,
            agents,
            databases,
            catalog,
            current,
            run,
            tasks,
            messages,
            commands,
            bench.fork_card,
            bench.override_card,
            bench.fork_hint,
            self,
        )
        self._compare = CompareController(cursor, databases, catalog, tasks, messages, commands, window.compare, self)
        ForkOriginController(cursor, databases, catalog, self._compare, tasks, bench.origin_hint, self)
        self._rewind = RewindController(cursor, current, self._forks, commits, tasks, messages, commands, bench.rewind_card, self)

        DeletionController(cursor, databases, run, tasks, messages, bench.sessions, bench.deletion_hint, self)
        self._findings = FindingsController(cursor, agents, databases, catalog, tasks, bench.findings, self)
        self.exchange = ExchangeController(cursor, databases, tasks, messages, commands, bench.sessions, bench.exchange_hint, self)
        self.search = SearchController(cursor, databases, tasks, messages, commands, bench.sessions, self)
        SizesController(databases, tasks, sessions, self)
        self.tail = LiveTail(
            cursor,
            databases,
            catalog,
            current,
            run,
            tasks,
            messages,
            follows_newest=commands.follow_newest.isChecked,
            has_draft=lambda: bool(bench.composer.text),
            parent=self,
        )
        self.tail.notes_changed.connect(notes.reread)
        self.database_page = DatabasePageController(cursor, databases, self.tail, tasks, messages, commands, bench.database, self)
        self._status = WindowStatus(
            cursor,
            agents,
            databases,
            current,
            run,
            events,
            costs,
            window,
            selected_event=lambda: self.stream.selected_event,
            is_drafting_fork=lambda: self._forks.is_drafting,
            parent=self,
        )
        self.notices = BackgroundNotices(run, catalog, window, self)
        self._run_commands.message_handlers.append(self._forks.take_message)
        commands.allow_writing.triggered.connect(write_access.request)
        commands.work_on_copy.triggered.connect(working_copy.request)
        self._engines = EngineController(agents, run, tasks, messages, commands, EngineMenu(window), self)
        self._attaching = AttachController(databases, run, tasks, messages, commands, bench.app_hint, window)
        self._connect_signals()

    @property
    def filtering(self) -> bool:
        """Whether the stream's filter is still searching."""
        return self.stream.filtering

    @property
    def keeps_unsaved(self) -> bool:
        """Whether this window's unsaved sessions are kept when it is closed now; see `LeaveController.keeps`."""
        return self._leaving.keeps

    async def attach(self, app: RunningApp) -> None:
        """Attach to a running app; see `AttachController.attach`."""
        await self._attaching.attach(app)

    async def open_paths(self, paths: list[str]) -> None:
        """Open agents and databases; see `OpeningController.open_paths`."""
        await self._opening.open_paths(paths)

    async def store_draft(self, seconds: float) -> None:
        """Store the note that is being written, as the window is about to close; wait at most this long."""
        self._notes.keep_draft()
        await self._stored_notes.wait_until_stored(seconds)

    def _connect_signals(self) -> None:
        self._connect_window()
        self._connect_pages()
        self._connect_stream()
        self._connect_panes()
        self._connect_branches()

    def _connect_window(self) -> None:
        window, commands = self.window, self.window.commands
        window.close_requested.connect(self.close_requested)
        self._leaving.close_requested.connect(self.close_requested)
        commands.reload.triggered.connect(self._on_reload)
        commands.close_database.triggered.connect(self._on_close_database)
        for choice, command in commands.themes.items():
            command.setChecked(choice == theme.current().choice)
            command.setData(choice)
            command.triggered.connect(self._on_theme_chosen)
        window.text_size.changed.connect(self._on_text_size_changed)
        window.motion.choose(self._preferences.motion)
        commands.compact_rows.toggled.connect(self._on_compact_rows)
        self._messages.posted.connect(self._on_message)
        self._messages.withdrawn.connect(window.message_bar.withdraw)
        self.tail.watching_changed.connect(window.status.show_tail)

    def _connect_pages(self) -> None:
        window, bench, opening = self.window, self.window.workbench, self._opening
        window.paths_dropped.connect(opening.open_dropped)
        window.agent_chosen.connect(opening.open_path)
        window.database_chosen.connect(opening.open_path)
        window.work_requested.connect(self._on_work_requested)
        opening.page_requested.connect(self._on_page_requested)
        opening.workbench_requested.connect(self._on_workbench_requested)
        opening.engine_changed.connect(window.status.show_engine)
        attaching = self._attaching
        attaching.workbench_requested.connect(self._on_workbench_requested)
        attaching.engine_changed.connect(self._on_attached_engine_changed)
        attaching.attached.connect(self._on_attached)
        attaching.database_requested.connect(opening.open_path)
        window.status.engine_requested.connect(self._engines.ask)
        opening.agent_ready.connect(self._on_agent_ready)
        self._servers.agent_ready.connect(self._on_agent_ready)
        self.exchange.workbench_requested.connect(self._on_workbench_requested)
        opening.foreign_database_found.connect(self.foreign_database.show)
        self.foreign_database.opened.connect(self._on_foreign_database_opened)
        self.foreign_database.left.connect(opening.show_home)
        self._compare.opened.connect(self._on_comparison_opened)
        self._compare.closed.connect(self._on_comparison_closed)
        self.repeats.opened.connect(self._on_repeats_opened)
        self.repeats.left.connect(self._on_workbench_requested)
        self.repeats.compare_requested.connect(self._compare.compare)
        self.evals.opened.connect(self._on_evals_opened)
        self.evals.left.connect(self._on_workbench_requested)
        self.evals.compare_requested.connect(self._compare.compare)
        opening.eval_set_found.connect(self.evals.open)
        window.eval_set_chosen.connect(self.evals.open)
        self.replays.compare_requested.connect(self._compare.compare)
        bench.sessions.replay_requested.connect(self.replays.ask)
        bench.sessions.capsule_requested.connect(self.capsules.ask)
        bench.sessions.run_again_requested.connect(self.repeats.ask)
        bench.problem.retry.connect(self._on_reload)
        bench.problem.given_up.connect(self._on_session_given_up)
        self._current.session_loading.connect(bench.show_stream)
        self._current.session_failed.connect(self._on_session_failed)
        self._current.session_loaded.connect(self._on_session_loaded)
        bench.sessions.row_chosen.connect(self.database_page.show_row)
        self.database_page.opened.connect(bench.show_database_page)
        self.database_page.closed.connect(bench.leave_database_page)
        self.database_page.left.connect(self._on_database_page_left)

    def _connect_stream(self) -> None:
        bench, commands = self.window.workbench, self.window.commands
        bench.detail.filter_requested.connect(bench.filter_bar.set_text)
        bench.detail.state.tree.writer_requested.connect(self.stream.go_to)
        bench.detail.delta.comparing_ended.connect(self.stream.end_comparing)
        for pane in (bench.timeline, bench.charts, bench.graph.graph):
            pane.event_chosen.connect(self.stream.go_to)
            pane.event_chosen.connect(bench.leave_database_page)
        self._cursor.event_requested.connect(self._on_work_requested)
        self.search.hit_opened.connect(self._on_hit_opened)
        self._tool_agent_events.tool_agent_event_selected.connect(bench.detail.show_tool_agent_event)
        self._notes.editing_began.connect(self._on_note_begun)
        bench.detail.note.left.connect(self._on_note_left)
        noting = (commands.next_note.triggered, commands.previous_note.triggered)
        for going in (commands.next_hit.triggered, commands.previous_hit.triggered, commands.go_to_event.triggered, *noting):
            going.connect(bench.leave_database_page)
        for going in (bench.pending.session_requested, bench.detail.state.tree.writer_requested):
            going.connect(bench.leave_database_page)

    def _connect_panes(self) -> None:
        bench = self.window.workbench
        bench.held.code.code_requested.connect(self._code.open)
        bench.graph.graph.code_requested.connect(self._code.open)
        self.window.problem.code.code_requested.connect(self._code.open)
        bench.stream.breakpoint_requested.connect(self._breakpoints.toggle_at)
        self._breakpoints.count_changed.connect(bench.show_breakpoints)
        self._breakpoints.condition_proposed.connect(self._on_condition_proposed)
        self._pending.listed.connect(bench.show_pending)
        self._pending.answer_wanted.connect(self._on_answer_wanted)
        self._writers.answered.connect(self._on_writers_answered)
        self._findings.counted.connect(bench.show_findings)

    def _connect_branches(self) -> None:
        bench, forks, rewind, resume = self.window.workbench, self._forks, self._rewind, self._resume
        bench.sessions.compare_requested.connect(self._compare.compare_session)
        bench.stream.fork_requested.connect(forks.ask)
        bench.stream.rewind_requested.connect(rewind.ask)
        forks.draft_begun.connect(self._run_commands.begin_draft)
        forks.draft_cancelled.connect(bench.composer.clear)
        forks.draft_dropped.connect(self._drafts.clear_unedited)
        forks.drafting_changed.connect(self._status.on_drafting_changed)
        for offer in (forks, rewind):  # one offer at a time
            offer.asked.connect(resume.hide_offer)
            offer.cancelled.connect(resume.show_hints)
        for cancelled in (forks.cancelled, rewind.cancelled, resume.cancelled):
            cancelled.connect(bench.stream.table.setFocus)

    def _on_reload(self) -> None:
        self._tasks.spawn(self._reload(), "Reading again")

    async def _reload(self) -> None:
        await self._databases.reload()
        await self._current.reload()

    def _on_close_database(self) -> None:
        selected = self._cursor.session
        if selected is not None:
            self._tasks.spawn(self._databases.close_database(selected.database), "Closing the database")

    def _on_text_size_changed(self, scale: int) -> None:
        self._preferences.text_scale = scale

    def _on_compact_rows(self, wanted: bool) -> None:
        theme.current().set_compact(wanted)
        self._preferences.compact_rows = wanted

    def _on_theme_chosen(self) -> None:
        choice = self.window.commands.themes
        chosen = next(name for name, command in choice.items() if command.isChecked())
        self._preferences.theme = chosen
        theme.apply(self._app, chosen)  # type: ignore[arg-type]  # one of its words

    def _on_message(self, message: Message) -> None:
        self.window.message_bar.show_message(message)
        self.window.workbench.log.add(message)

    # pages

    def _on_page_requested(self, page: QWidget) -> None:
        self.window.show_page(page)

    def _on_workbench_requested(self) -> None:
        self.window.show_page(self.window.workbench)

    def _on_work_requested(self) -> None:
        if self.window.page is not self.window.workbench:
            self._opening.show_home()

    def _on_foreign_database_opened(self) -> None:
        self.window.show_page(self.window.foreign_database)

    def _on_comparison_opened(self) -> None:
        if self.window.page is not self.window.compare:
            self._compared_on = self.window.page or self.window.workbench
        self.window.show_page(self.window.compare)

    def _on_comparison_closed(self) -> None:
        pages = self.window.repeats, self.window.evals, self.window.workbench
        self.window.show_page(self._compared_on if self._compared_on in pages else self.window.workbench)

    def _on_repeats_opened(self) -> None:
        self.window.show_page(self.window.repeats)
        self.window.repeats.focus()

    def _on_evals_opened(self) -> None:
        self.window.show_page(self.window.evals)
        self.window.evals.focus()

    def _on_agent_ready(self, title: str, hint: str) -> None:
        bench = self.window.workbench
        bench.stream.set_empty_text(title, hint)
        bench.sessions.set_empty_text("No sessions yet", "The first message begins one.")
        bench.composer.focus()

    def _on_attached(self, title: str, hint: str) -> None:
        if self._cursor.session is None:
            self.window.workbench.stream.set_empty_text(title, hint)
            self.window.workbench.sessions.set_empty_text("No sessions yet", "Those that the app uses are listed here.")

    def _on_attached_engine_changed(self, text: str) -> None:
        self.window.status.show_engine(text or self._opening.engine_text)

    def _on_session_given_up(self) -> None:
        self._cursor.select_session(None)

    def _on_session_failed(self, address: SessionAddress, error: Exception) -> None:
        text = str(error) if isinstance(error, KnownError) else error_text(error)
        details = None if isinstance(error, KnownError) else format_traceback(error)
        self.window.workbench.show_problem(f"Session {address.key.session_id} could not be read", text, details)

    def _on_session_loaded(self, _session: SessionDocument) -> None:
        if self._nothing_has_focus():
            self.window.workbench.stream.table.setFocus()

    def _nothing_has_focus(self) -> bool:
        """Return whether no pane has the keyboard, as after a start; a pane that has it keeps it."""
        focus = self.window.focusWidget()
        bar = self.window.run_bar
        return focus is None or not focus.isVisible() or focus is bar or bar.isAncestorOf(focus)

    def _on_database_page_left(self) -> None:
        self.window.workbench.leave_database_page()
        self.window.workbench.stream.table.setFocus()

    # panes

    def _on_note_begun(self) -> None:
        self.window.workbench.raise_pane("detail")
        self.window.workbench.stream.set_following(False)  # else the next event of a run would be selected

    def _on_note_left(self) -> None:
        stream = self.window.workbench.stream
        stream.table.setFocus()
        if self._cursor.event_index == self.events.event_count - 1:
            stream.set_following(True)  # as before the note

    def _on_hit_opened(self) -> None:
        self.window.workbench.stream.table.setFocus(Qt.FocusReason.OtherFocusReason)  # gets it when the dialog gives it back

    def _on_condition_proposed(self) -> None:
        self.window.workbench.raise_pane("breakpoints")

    def _on_answer_wanted(self) -> None:
        self.window.workbench.raise_pane("pending")

    def _on_writers_answered(self) -> None:
        self.window.workbench.raise_pane("writers")
