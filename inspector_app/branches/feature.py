"""The door of forks, rewinds and comparisons of sessions."""

from __future__ import annotations

from inspector_app.branches.compare_controller import CompareController
from inspector_app.branches.compare_page import ComparePage
from inspector_app.branches.fork_controller import ForkController
from inspector_app.branches.fork_origin import ForkOriginController
from inspector_app.branches.override_card import OverrideCard
from inspector_app.branches.rewind_controller import RewindController
from inspector_app.widgets.actions import allow
from inspector_app.widgets.decision_card import DecisionCard
from inspector_app.widgets.hint_bar import ANSWERS, SUGGESTS
from inspector_app.widgets.places import Places
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class Branches(Feature):
    """Forks, rewinds and comparisons.

    Attributes:
        page: the comparison.
        forks, rewind, compare: the controllers; exist once started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        add = places.command
        fork, rewind, compare = "Fork at this event…", "Rewind to before this invocation…", "Compare with another session…"
        self._fork = add("fork", fork, "code-branch", "Ctrl+Shift+K", menu="Session", at=1, needs="workbench")
        keys = "Ctrl+Shift+Backspace"
        self._rewind = add("rewind", rewind, "backward", keys, menu="Session", at=2, role="warn", needs="workbench")
        self._compare = add("compare", compare, "code-compare", "Ctrl+Shift+D", menu="Session", at=3)
        self._origin_hint = places.hint("origin_hint", SUGGESTS)
        self._fork_hint = places.hint("fork_hint", ANSWERS)
        self._fork_card = places.card("fork_card", DecisionCard("fork_card", "What forking will do"), 32)
        self._override_card = places.card("override_card", OverrideCard(), 33)
        self._rewind_card = places.card("rewind_card", DecisionCard("rewind_card", "What rewinding will do"), 34)
        for decided in (self._fork_card.chosen, self._rewind_card.chosen, self._override_card.submitted):
            decided.connect(places.focus_requested)  # else Qt moves the focus of the hidden card to the next widget
        self.page = places.page("compare", ComparePage(), shows_session=True)

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        self.forks = ForkController(work, self._fork_card, self._override_card, self._fork_hint)
        self._fork.triggered.connect(self.forks.ask_at_selected)
        self.compare = CompareController(work, self.page)
        self._compare.triggered.connect(self.compare.ask)
        self.compare.opened.connect(lambda: self.places.page_requested.emit(self.page))
        self.compare.closed.connect(self.places.back_requested)
        ForkOriginController(work, self.compare, self._origin_hint)
        self.rewind = RewindController(work, self.forks, self._rewind_card)
        self._rewind.triggered.connect(self.rewind.ask_at_selected)
        for cancelled in (self.forks.cancelled, self.rewind.cancelled):
            cancelled.connect(self.places.focus_requested)
        self._current: CurrentSession = work.current
        self.forks.drafting_changed.connect(self.places.availability_changed)
        for changed in (self.places.availability_changed, work.current.state_computed):
            changed.connect(self._allow)

    def _allow(self) -> None:
        no_event = None if self.places.selected_event() else "Select an event first."
        own = self._current.session.source.read_only_because if self._current.session is not None else ""
        allow(self._fork, no_event or own or None, "Continue from here in a new session; this one does not change")
        allow(self._rewind, no_event or own or None, "Take back this invocation and all after it; says first what that undoes")
