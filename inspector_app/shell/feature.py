"""The door of what every window has: layouts, looks, the log, settings, leaving."""

from __future__ import annotations

from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QAbstractScrollArea

from inspector_app.presentation.message import Message
from inspector_app.shell.background_notices import BackgroundNotices
from inspector_app.shell.help_dialog import HelpDialog
from inspector_app.shell.leave_controller import LeaveController
from inspector_app.shell.log_pane import LogPane
from inspector_app.shell.main_window import MainWindow
from inspector_app.shell.output_log import OutputLog
from inspector_app.shell.pane_pictures import PanePictures
from inspector_app.shell.settings_controller import SettingsController
from inspector_app.shell.text_size import TextSize
from inspector_app.widgets import theme
from inspector_app.widgets.motion import Motion
from inspector_app.widgets.places import Pane, Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace
from runtime import expressions


class Shell(Feature):
    """The commands of the window itself.

    Attributes:
        log: the messages and what agents write.
        themes: the command of each theme, by its choice.
        motion: whether docks and menus may move; exists once the window is made.
        text_size: changes the size of text; exists once the window is made.
        chosen: reports what is chosen in the settings; exists once started.
        leaving, notices: asks before sessions are lost, and reports to the desktop; exist once started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.log = LogPane()
        places.pane(Pane("log", "Log", self.log, "below", 7, tab=7))
        add = places.command
        self._save_as = add("save_as", "Save as…", "floppy-disk", "Ctrl+S", menu="Session", at=33)
        self._next_pane = add("next_pane", "Next pane", "arrow-right", "F7", menu="View", at=11, needs="open")
        self._previous_pane = add("previous_pane", "Previous pane", "arrow-left", "Shift+F7", menu="View", at=11, needs="open")
        does = "Gives the pane with the focus, else the one in front below, the room of all others; again puts all back"
        icon = "up-right-and-down-left-from-center"
        self._enlarge = add("enlarge", "Enlarge the pane", icon, "F12", menu="View", at=11, does=does, needs="open")
        self._read_messages = add("read_messages", "Go to the newest message", "circle-info", "Ctrl+Shift+M", menu="View", at=12)
        # + is on = without Shift on many keyboards.
        self._larger_text = add("larger_text", "Larger text", "magnifying-glass-plus", "Ctrl++ Ctrl+=", menu="View", at=14)
        self._smaller_text = add("smaller_text", "Smaller text", "magnifying-glass-minus", "Ctrl+-", menu="View", at=14)
        self._normal_text = add("normal_text", "Normal text size", "text-height", "Ctrl+0", menu="View", at=14)
        does = "Lower rows in lists, trees and tables: more of them at a time"
        self.compact_rows = add("compact_rows", "Compact rows", "bars", menu="View", at=14, does=does)
        self.compact_rows.setCheckable(True)
        self.compact_rows.setChecked(theme.current().is_compact)
        self._save_picture = add("save_picture", "Save the pane as a picture…", "image", menu="View", at=15)
        self._print_pane = add("print_pane", "Print the pane…", "print", menu="View", at=15)
        does = "For browsing databases: shows the events, the session list and the inspector; again brings back the others"
        self._browse = add("perspective_browse", "Perspective: browse", "folder-tree", "Ctrl+1", menu="View", at=16, does=does)
        does = "For debugging a run: shows the inspector and the lower panes, and hides the session list; again brings it back"
        self._debug = add("perspective_debug", "Perspective: debug", "bug", "Ctrl+2", menu="View", at=16, does=does)
        self._reset_layout = add("reset_layout", "Reset the layout", "table-columns", menu="View", at=16)
        names = {"system": "Follow the system", "light": "Light", "dark": "Dark", "contrast": "High contrast"}
        self.themes = {choice: add(f"theme_{choice}", text, menu="Theme", at=1) for choice, text in names.items()}
        group = QActionGroup(self)
        for choice in self.themes.values():
            choice.setCheckable(True)
            group.addAction(choice)
        self._tour = add("tour", "Guided tour", "signs-post", menu="Help", at=1, needs="workbench")
        self.condition_help = add("condition_help", "How conditions are written", "circle-question", "F1", menu="Help", at=2)
        self._settings = add("settings", "Settings…", "gear", "Ctrl+,", menu="", at=91)
        self.palette = add("palette", "Find a command…", "terminal", "Ctrl+Shift+P", menu="", at=92)
        self._quit = add("quit", "Quit", "", "Ctrl+Q", menu="", at=93)

    def show_in(self, window: MainWindow) -> None:
        """Connect the commands that need no owners to the parts of the window."""
        self._window, bench = window, window.workbench
        self._quit.triggered.connect(window.leave_requested)
        self.palette.triggered.connect(window.palette_card.ask)
        self._tour.triggered.connect(lambda: window.tour_card.start(self.places, window.page))
        window.page_changed.connect(lambda: window.tour_card.on_page_changed(window.page is bench))
        self._reset_layout.triggered.connect(bench.layout_of_docks.reset_layout)
        self._browse.triggered.connect(lambda: bench.layout_of_docks.show_only("left", "right"))
        self._debug.triggered.connect(lambda: bench.layout_of_docks.show_only("right", "below"))
        self.condition_help.triggered.connect(self._on_condition_help)
        self._enlarge.triggered.connect(lambda: bench.enlarge())
        named = (window.commands.write_message, window.commands.new_session, window.commands.new_session_with, self._tour)
        for menu, _, command in self.places.menu:  # these lead to what an enlarged pane hides
            if menu in ("Find", "Session") or command in named:
                command.triggered.connect(bench.layout_of_docks.leave_enlarged)
        self._next_pane.triggered.connect(lambda: bench.focus_next_pane())
        self._previous_pane.triggered.connect(lambda: bench.focus_next_pane(-1))
        self._read_messages.triggered.connect(window.message_bar.focus)
        self.motion = Motion(bench)
        areas = window.findChildren(QAbstractScrollArea)
        self.text_size = TextSize(self._larger_text, self._smaller_text, self._normal_text, areas, window)

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        window = self._window
        self._preferences = preferences = work.preferences
        self._messages = work.messages
        pictures = PanePictures(window, self._save_picture, self._print_pane)
        pictures.done.connect(work.messages.info)
        pictures.failed.connect(work.messages.warning)
        self.chosen = SettingsController(work, self.motion, window)
        self.chosen.theme_chosen.connect(lambda choice: self.themes[choice].trigger())
        self.chosen.text_scale_chosen.connect(self.text_size.set_scale)
        self.chosen.compact_rows_chosen.connect(self.compact_rows.setChecked)
        self._settings.triggered.connect(self.chosen.ask)
        self.leaving = LeaveController(work.unsaved, preferences, work.tasks, work.messages, window)
        self._save_as.triggered.connect(self.leaving.ask_where_to_save)
        OutputLog(work.output, work.messages, work.cursor, self.log)
        self.notices = BackgroundNotices(work.run, work.catalog, work.titles, window, self)
        for choice, command in self.themes.items():
            command.setChecked(choice == theme.current().choice)
            command.setData(choice)
            command.triggered.connect(self._on_theme_chosen)
        self.text_size.changed.connect(self._on_text_size_changed)
        self.motion.choose(preferences.motion)
        self.compact_rows.toggled.connect(self._on_compact_rows)
        work.messages.posted.connect(window.message_bar.show_message)
        work.messages.posted.connect(self.log.add)
        window.workbench.layout_of_docks.replaced.connect(self._on_layout_replaced)
        window.message_bar.log_requested.connect(self._on_log_requested)
        work.messages.withdrawn.connect(window.message_bar.withdraw)
        work.tail.watching_changed.connect(window.status.show_tail)

    def _on_layout_replaced(self) -> None:
        self._messages.info(
            "The saved layout was replaced: this version has other panes. Drag them to where you want them; F12 enlarges one."
        )

    def _on_log_requested(self, message: Message | None) -> None:
        self._window.show_page(self._window.workbench)
        self._window.workbench.raise_pane("log")
        self.log.show_message(message)

    def _on_text_size_changed(self, scale: int) -> None:
        self._preferences.text_scale = scale

    def _on_compact_rows(self, wanted: bool) -> None:
        theme.current().set_compact(wanted)
        self._preferences.compact_rows = wanted

    def _on_theme_chosen(self) -> None:
        chosen = next(name for name, command in self.themes.items() if command.isChecked())
        self._preferences.theme = chosen
        theme.current().choose(chosen)  # type: ignore[arg-type]  # one of its words

    def _on_condition_help(self) -> None:
        HelpDialog("How conditions are written", expressions.__doc__ or "", self.places.window).open()
