"""What the features put into the window: commands, panes, pages, hints, cards, and what the tour shows.

The doors of the features fill it, the shell reads it. It is below both, as no feature imports the shell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Literal, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from inspector_app.presentation.author_colours import AuthorColours
from inspector_app.widgets import theme
from inspector_app.widgets.actions import allow
from inspector_app.widgets.hint_bar import HintBar, OneHint

if TYPE_CHECKING:
    from runtime.events.event import Event

Part = TypeVar("Part", bound=QWidget)
Side = Literal["left", "right", "below"]
Needs = Literal["", "workbench", "open"]

_HINTS = 20  # place of the hints below the events


@dataclass(frozen=True)
class Pane:
    """A dock of the workbench.

    Attributes:
        name, title, widget: the dock's name in saved layouts, its title, and what it shows.
        side: where the default layout has it.
        number: its place among all panes: Alt and the number goes to it. The tenth has Alt+0.
        tab: its place among the tabs below the events.
        stops: what *Next pane* visits in it; nothing means the widget.
        on_front: called with whether it is displayed.
    """

    name: str
    title: str
    widget: QWidget
    side: Side
    number: int
    tab: int = 0
    stops: tuple[QWidget, ...] = ()
    on_front: Callable[[bool], None] | None = None


@dataclass(frozen=True)
class Stop:
    """A stop of the guided tour: a title, a text and what it is about."""

    title: str
    text: str
    about: QWidget


class Places(QObject):
    """The places of one window, filled by the features before the window is made.

    Attributes:
        colours: the authors' colours.
        commands, parts: every command and every placed widget by its name.
        window: the window, once it is made.
        selected_event: returns the event that commands act on.

    Signals:
        page_requested (QWidget): a page is to be displayed.
        workbench_requested: the workbench is to be displayed.
        back_requested: the page before this one is to be displayed.
        work_requested: a command is about to change the workbench, which may not be the displayed page.
        pane_requested (str): the pane of this name is to come to the front.
        pane_titled (str, str): the pane of this name has a new title.
        middle_requested (QWidget): a part is to be displayed in the middle.
        event_requested (int): the event at this position is to be displayed and selected.
        events_requested: the events are to be displayed again in the middle.
        focus_requested: the events are to get the focus.
        availability_changed: commands may have become possible or impossible.
        ready_for_sessions (str, str, str): what was opened has no session yet; a title and a hint for the events, a hint for the list.
    """

    page_requested = Signal(object)
    workbench_requested = Signal()
    back_requested = Signal()
    work_requested = Signal()
    pane_requested = Signal(str)
    pane_titled = Signal(str, str)
    middle_requested = Signal(object)
    event_requested = Signal(int)
    events_requested = Signal()
    focus_requested = Signal()
    availability_changed = Signal()
    ready_for_sessions = Signal(str, str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.colours = AuthorColours()
        self.commands = SimpleNamespace()
        self.parts = SimpleNamespace()
        self.window: QWidget
        self.selected_event: Callable[[], Event | None] = lambda: None
        self.menu: list[tuple[str, int, QAction]] = []
        self.need_something_open: list[QAction] = []
        self.bar: list[tuple[QAction, bool] | None] = []
        self.panes: list[Pane] = []
        self.pages: list[QWidget] = []
        self.pages_of_session: list[QWidget] = []
        self.middle: list[tuple[int, QWidget, bool]] = []
        self.centre: list[tuple[QWidget, bool]] = []
        self.transient: list[QWidget] = []
        self.under: dict[str, QWidget] = {}
        self.tour: list[tuple[int, Stop]] = []
        self._hints = OneHint(self)

    def command(
        self,
        name: str,
        text: str,
        icon: str = "",
        keys: str = "",
        *,
        menu: str,
        at: int,
        role: str = "text",
        does: str = "",
        needs: Needs = "",
    ) -> QAction:
        """Add a command, enabled and unconnected.

        Args:
            name: its name in `commands`.
            text, icon, role: how menus show it, and the colour of its icon.
            keys: its shortcuts, separated by spaces.
            menu: its menu; empty for the main one.
            at: its place there; a tenth has a line above it, and from 90 on it follows the submenus.
            does: what it does, if its text does not say it.
            needs: the workbench is displayed before it runs; or something must also be open.
        """
        made = QAction(text, self)
        made.setObjectName(f"action_{name}")
        if icon:
            made.setIcon(theme.icon(icon, role))
        made.setShortcuts([QKeySequence(key) for key in keys.split()])
        allow(made, None, does)
        if needs:
            made.triggered.connect(self.work_requested)
        if needs == "open":
            self.need_something_open.append(made)
        self.menu.append((menu, at, made))
        setattr(self.commands, name, made)
        return made

    def pane(self, pane: Pane) -> None:
        """Add a pane, and the command that brings it to the front and gives it the focus."""
        name, keys = f"go_to_{pane.name}", f"Alt+{pane.number % 10}"
        self.command(name, f'Go to "{pane.title}"', keys=keys, menu="View", at=pane.number - 1, needs="open").setObjectName(name)
        self.panes.append(pane)
        setattr(self.parts, pane.name, pane.widget)

    def page(self, name: str, widget: Part, *, shows_session: bool = False) -> Part:
        """Add a page; its method `focus`, if it has one, is called when it is displayed. The first one is displayed at the start."""
        self.pages.append(widget)
        if shows_session:
            self.pages_of_session.append(widget)
        setattr(self.parts, name, widget)
        return widget

    def hint(self, name: str, urgency: int, part: str = "") -> HintBar:
        """Add a line below the events, where one hint is displayed at a time.

        Args:
            name: its object name.
            urgency: `SUGGESTS`, `WARNS` or `ANSWERS`.
            part: its name in `parts`, if that differs.
        """
        made = HintBar(name, urgency)
        self._hints.add(made)
        return self.card(part or name, made, _HINTS)

    def card(self, name: str, widget: Part, at: int) -> Part:
        """Add a card below the events; the events get the focus that it has when it hides."""
        self.transient.append(widget)
        return self.beside_events(name, widget, at)

    def beside_events(self, name: str, widget: Part, at: int, *, is_stop: bool = False) -> Part:
        """Add a part that is always in the middle: above the events before 0, below them after 0. *Next pane* visits stops."""
        self.middle.append((at, widget, is_stop))
        setattr(self.parts, name, widget)
        return widget

    def in_the_middle(self, name: str, widget: Part, *, hides_filter: bool = False) -> Part:
        """Add what can be in the middle; the first one is the events. A part that hides the filter is left with `events_requested`."""
        self.centre.append((widget, hides_filter))
        setattr(self.parts, name, widget)
        return widget

    def under_pane(self, pane: str, name: str, widget: Part) -> Part:
        """Add a card below another feature's pane."""
        self.under[pane] = widget
        self.transient.append(widget)
        setattr(self.parts, name, widget)
        return widget

    def tour_stop(self, at: int, title: str, text: str, about: QWidget) -> None:
        """Add a stop of the guided tour."""
        self.tour.append((at, Stop(title, text, about)))
