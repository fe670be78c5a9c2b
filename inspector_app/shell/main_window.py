"""The main window: tool bar, message bar, one page at a time, and status bar."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QIcon, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFileDialog, QMainWindow, QMenu, QStackedWidget, QVBoxLayout, QWidget

from inspector_app.branches.compare_page import ComparePage
from inspector_app.databases.foreign_database_page import ForeignDatabasePage
from inspector_app.evals.eval_page import EvalPage
from inspector_app.evals.repeat_page import RepeatPage
from inspector_app.opening.agent_choice_page import AgentChoicePage
from inspector_app.opening.problem_page import ProblemPage
from inspector_app.opening.trust_page import TrustPage
from inspector_app.opening.welcome import SampleCard, WelcomePage
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.shell.command_palette import CommandPalette
from inspector_app.shell.enter_presses import press_focused
from inspector_app.shell.help_dialog import HelpDialog
from inspector_app.shell.message_bar import MessageBar
from inspector_app.shell.run_bar import RunBar
from inspector_app.shell.status_bar import StatusBar
from inspector_app.shell.text_size import TextSize
from inspector_app.shell.tour import Stop, TourCard
from inspector_app.shell.workbench import Workbench
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.widgets.actions import make_actions
from inspector_app.widgets.motion import Motion
from runtime import expressions

_ICON = Path(str(files("inspector_app.resources"))) / "desktop/icons/256x256/agent-inspector.png"
DATABASE_FILTER = "Session databases (*.db *.sqlite *.sqlite3);;All files (*)"


class MainWindow(QMainWindow):
    """The main window.

    Attributes:
        commands: the window's actions.
        run_bar, message_bar, status, palette_card: the parts that every page has.
        text_size: changes the size of text.
        motion: whether docks and menus may move.
        welcome, agent_choice, trust, problem, foreign_database, workbench, compare, repeats, evals: the pages.

    Signals:
        paths_dropped(list[str]): files or folders were dropped onto the window.
        agent_chosen(str), database_chosen(str), eval_set_chosen(str): the user chose a path in the file dialog.
        page_changed: another page is displayed.
        leave_requested: the user wants to close the window; sessions that would be deleted may be saved first.
        close_requested: the window is to be closed; it stays open until `close_now` is called.
        work_requested: an action is about to change the workbench, which may not be the displayed page.

    Args:
        events: the model of the event stream.
        sessions: the model of the session list.
        samples: the sample agents of the start page.
    """

    paths_dropped = Signal(list)
    agent_chosen = Signal(str)
    database_chosen = Signal(str)
    eval_set_chosen = Signal(str)
    page_changed = Signal()
    leave_requested = Signal()
    close_requested = Signal()
    work_requested = Signal()

    def __init__(self, events: EventTableModel, sessions: SessionTreeModel, samples: list[SampleCard]) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle("Agent Inspector")
        self.setWindowIcon(QIcon(str(_ICON)))
        self.setAcceptDrops(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._may_close = False
        self.commands = make_actions(self)
        self.addActions(self.commands.all)
        self.welcome = WelcomePage(samples, self.commands)
        self.trust = TrustPage()
        self.agent_choice = AgentChoicePage()
        self.problem = ProblemPage("open_problem")
        self.foreign_database = ForeignDatabasePage()
        self.workbench = Workbench(events, sessions)
        self.compare = ComparePage()
        self.repeats = RepeatPage()
        self.evals = EvalPage()
        menu = self._make_menu()
        self.run_bar = RunBar(self.commands, menu, self)
        self.addToolBar(self.run_bar)
        self.status = StatusBar(self)
        self.setStatusBar(self.status)
        self._pages = QStackedWidget()
        for page in (self.welcome, self.agent_choice, self.trust, self.problem, self.foreign_database, self.workbench, self.compare):
            self._pages.addWidget(page)
        for results in (self.repeats, self.evals):
            self._pages.addWidget(results)
        body = self._body()
        self.setCentralWidget(body)
        self.message_bar = MessageBar(body)
        self.palette_card = CommandPalette(menu, self)
        self.tour_card = TourCard(body)
        self._page_before_tour: QWidget | None = None
        self.text_size = TextSize(self.commands, self.findChildren(QAbstractScrollArea), self)
        self.motion = Motion(self.workbench)
        self._connect_signals()
        self.show_page(self.welcome)

    def show_page(self, page: QWidget) -> None:
        """Show one of the pages, such as `welcome` or `workbench`."""
        before, focused = self._pages.currentWidget(), QApplication.focusWidget()
        self._pages.setCurrentWidget(page)
        if before is not None and before is not page and (focused is None or before.isAncestorOf(focused)):
            # Qt would choose the next widget. Without events, what is being opened takes the focus soon.
            table = self.workbench.stream.table
            (table if table.isVisible() else self.run_bar).setFocus(Qt.FocusReason.OtherFocusReason)
        self._page_before_tour = None  # what is opened meanwhile stays displayed
        if page is not self.workbench:
            self.tour_card.end()
        self.status.show_session_parts(self.session_is_in_sight)
        if page is self.welcome:
            self.welcome.focus()
        if page is self.agent_choice:
            self.agent_choice.focus()
        self.page_changed.emit()

    @property
    def session_is_in_sight(self) -> bool:
        """Whether the displayed page shows the open session."""
        return self._pages.currentWidget() in (self.workbench, self.compare)

    @property
    def pane_actions(self) -> list[QAction]:
        """The actions that go to a pane, or act in one independently of its selection."""
        does = self.commands
        finding = [does.find_event, does.saved_filters, does.mark_hits, does.next_hit, does.previous_hit, does.go_to_event]
        looking = [does.matching_call, does.who_wrote, does.compare_states, does.find_in_state, does.inspect_database, does.find_session]
        return [*finding, *looking, does.write_message, does.answer_pending, does.next_pane, does.previous_pane, *self.workbench.go_actions]

    @property
    def page(self) -> QWidget | None:
        """The displayed page."""
        return self._pages.currentWidget()

    def close_now(self) -> None:
        """Close the window; call it when the run has ended."""
        self._may_close = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emit a signal instead of closing: a person is asked about unsaved sessions, and a run must end before its window closes."""
        if self._may_close:
            event.accept()
            return
        event.ignore()
        (self.leave_requested if event.spontaneous() else self.close_requested).emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Paint all rows of the stream; a live stream postpones some."""
        super().resizeEvent(event)
        self.workbench.stream.table.paint_next()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the focused button on Enter."""
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Skip widgets that another pane covers: the user could not see what they type there."""
        passed: list[QWidget | None] = [QApplication.focusWidget()]
        while super().focusNextPrevChild(forward):
            focused = QApplication.focusWidget()
            if focused is None or not self.workbench.is_behind(focused):
                return True
            if focused in passed:  # back at the first one, or, where that was hidden, at another one
                self.workbench.stream.table.setFocus(Qt.FocusReason.TabFocusReason)
                return True
            passed.append(focused)
        return False

    def current_pane(self) -> tuple[str, QWidget]:
        """Return the title and the widget of the pane with the focus; of another page, the page."""
        if self.page is self.workbench:
            return self.workbench.current_pane()
        return "Page", self._pages

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files and folders, but not an event of this window."""
        if event.source() is None and _local_paths(event.mimeData()):
            event.acceptProposedAction()
            self.welcome.show_drop(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Remove the drop mark."""
        self.welcome.show_drop(False)

    def dropEvent(self, event: QDropEvent) -> None:
        """Emit `paths_dropped` for the dropped files and folders."""
        self.welcome.show_drop(False)
        paths = _local_paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.paths_dropped.emit(paths)

    def _body(self) -> QWidget:
        body = QWidget(self)
        rows = QVBoxLayout(body)
        rows.setContentsMargins(8, 0, 8, 0)
        rows.setSpacing(6)
        rows.addWidget(self._pages, 1)
        return body

    def _on_condition_help(self) -> None:
        HelpDialog("How conditions are written", expressions.__doc__ or "", self).open()

    def _make_menu(self) -> QMenu:
        menu = QMenu("Menu", self)
        menu.setToolTipsVisible(True)
        actions = self.commands
        menu.addActions(
            [
                actions.open_agent,
                actions.open_database,
                actions.open_eval_set,
                actions.open_url,
                actions.attach,
                actions.new_session,
                actions.start_page,
            ]
        )
        menu.addSeparator()
        run = menu.addMenu("Run")
        run.addActions([actions.run, actions.pause, actions.stop])
        run.addSeparator()
        run.addActions([actions.step, actions.step_over, actions.step_into, actions.step_out, actions.run_to, actions.toggle_breakpoint])
        run.addSeparator()
        run.addActions([actions.resume, actions.write_message, actions.answer_pending])
        run.addSeparator()
        run.addActions([actions.replay, actions.run_again, actions.repeated_runs, actions.evals])
        run.addSeparator()
        run.addActions([actions.choose_engine, actions.record_requests])
        database = menu.addMenu("Session")
        find = menu.addMenu("Find")
        find.addActions([actions.find_event, actions.saved_filters, actions.mark_hits, actions.next_hit, actions.previous_hit])
        find.addSeparator()
        find.addActions([actions.go_to_event, actions.matching_call, actions.open_code])
        find.addSeparator()
        find.addActions([actions.toggle_bookmark, actions.edit_note, actions.next_note, actions.previous_note])
        find.addSeparator()
        find.addActions([actions.find_in_state, actions.who_wrote, actions.compare_states])
        database.addActions([actions.fork, actions.rewind, actions.compare])
        database.addSeparator()
        database.addActions([actions.find_session, actions.search_all, actions.inspect_database, actions.follow_newest, actions.reload])
        database.addSeparator()
        database.addActions([actions.export_session, actions.export_capsule, actions.import_sessions])
        database.addSeparator()
        database.addActions([actions.allow_writing, actions.work_on_copy, actions.save_as, actions.close_database])
        view = menu.addMenu("View")
        view.addActions(self.workbench.go_actions)
        panes = view.addMenu("Panes")
        panes.addActions(self.workbench.dock_actions)
        view.addSeparator()
        view.addActions([actions.next_pane, actions.previous_pane, actions.read_messages])
        view.addAction(actions.choose_editor)
        view.addActions([actions.larger_text, actions.smaller_text, actions.normal_text, actions.compact_rows])
        view.addActions([actions.save_picture, actions.print_pane])
        view.addActions([actions.perspective_browse, actions.perspective_debug, actions.reset_layout])
        themes = menu.addMenu("Theme")
        themes.addActions(list(actions.themes.values()))
        menu.addMenu("Help").addActions([actions.tour, actions.condition_help])
        menu.addSeparator()
        menu.addActions([actions.settings, actions.palette, actions.quit])
        return menu

    def _connect_signals(self) -> None:
        actions = self.commands
        running = [actions.run, actions.step, actions.step_over, actions.step_into, actions.step_out, actions.run_to, actions.resume]
        doing = [actions.toggle_breakpoint, actions.fork, actions.rewind, actions.new_session]
        for action in (
            *self.pane_actions,
            *running,
            *doing,
            actions.tour,
        ):  # connected first, so that the pane is displayed when the action runs
            action.triggered.connect(self.work_requested)
        self.workbench.asked_for.connect(self.work_requested)
        actions.quit.triggered.connect(self.leave_requested)
        actions.open_agent.triggered.connect(self._on_open_agent)
        actions.open_database.triggered.connect(self._on_open_database)
        actions.open_eval_set.triggered.connect(self._on_open_eval_set)
        actions.palette.triggered.connect(self.palette_card.ask)
        actions.tour.triggered.connect(self._on_tour)
        self.tour_card.ended.connect(self._on_tour_ended)
        actions.reset_layout.triggered.connect(self.workbench.reset_layout)
        actions.perspective_browse.triggered.connect(self._on_browse)
        actions.perspective_debug.triggered.connect(self._on_debug)
        actions.find_session.triggered.connect(self.workbench.sessions.focus_filter)
        actions.find_event.triggered.connect(self.workbench.filter_events)
        actions.saved_filters.triggered.connect(self.workbench.filter_bar.saved.ask)
        actions.mark_hits.triggered.connect(self.workbench.filter_bar.marking.toggle)
        actions.condition_help.triggered.connect(self._on_condition_help)
        self.workbench.filter_bar.help_requested.connect(self._on_condition_help)
        self.workbench.breakpoints.form.help_requested.connect(self._on_condition_help)
        actions.find_in_state.triggered.connect(self._on_find_in_state)
        actions.go_to_event.triggered.connect(self.workbench.stream.ask_for_event)
        actions.next_pane.triggered.connect(self._on_next_pane)
        actions.previous_pane.triggered.connect(self._on_previous_pane)
        actions.read_messages.triggered.connect(self.message_bar.focus)
        self.message_bar.reload_requested.connect(actions.reload.trigger)

    def _on_tour(self) -> None:
        bench = self.workbench
        before = self.page
        self.show_page(bench)
        self._page_before_tour = before
        self.tour_card.start(
            [
                Stop(
                    "Sessions", "The sessions of all open databases. A mark says that something waits or was interrupted.", bench.sessions
                ),
                Stop(
                    "Events",
                    "One row for each event, grouped by invocation. Select one to see the state that the agent had there.",
                    bench.stream,
                ),
                Stop(
                    "The selected event",
                    "Its content, the state after it with who wrote each key, and the request to the model.",
                    bench.detail,
                ),
                Stop(
                    "Write and step",
                    "Send the agent a message here. F10 holds it at the next event, F11 before the next call, and F5 continues.",
                    bench.composer,
                ),
                Stop(
                    "Pending",
                    "Approvals, long-running calls and credentials that the agent needs from you, and interrupted runs.",
                    bench.pending,
                ),
            ]
        )

    def _on_tour_ended(self) -> None:
        before, self._page_before_tour = self._page_before_tour, None
        if before is not None and self.page is self.workbench:
            self.show_page(before)

    def _on_browse(self) -> None:
        self.workbench.show_perspective("browse")

    def _on_debug(self) -> None:
        self.workbench.show_perspective("debug")

    def _on_next_pane(self) -> None:
        self.workbench.focus_next_pane()

    def _on_previous_pane(self) -> None:
        self.workbench.focus_next_pane(-1)

    def _on_find_in_state(self) -> None:
        self.workbench.raise_pane("detail")
        self.workbench.detail.find_in_state()

    def _on_open_agent(self) -> None:
        dialog = QFileDialog(self, "Open an agent folder")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.fileSelected.connect(self.agent_chosen)
        self._open(dialog)

    def _on_open_database(self) -> None:
        dialog = QFileDialog(self, "Open a session database")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(DATABASE_FILTER)
        dialog.fileSelected.connect(self.database_chosen)
        self._open(dialog)

    def _on_open_eval_set(self) -> None:
        dialog = QFileDialog(self, "Open an eval set")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter("Eval sets (*.evalset.json *.test.json);;JSON files (*.json)")
        dialog.fileSelected.connect(self.eval_set_chosen)
        self._open(dialog)

    def _open(self, dialog: QFileDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()


def _local_paths(data: QMimeData) -> list[str]:
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
