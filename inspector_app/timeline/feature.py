"""The door of the timeline, and of the charts of turns."""

from __future__ import annotations

from inspector_app.timeline.timeline_controller import TimelineController
from inspector_app.timeline.timeline_view import TimelineView
from inspector_app.timeline.turns_controller import TurnsController
from inspector_app.timeline.turns_view import TurnsView
from inspector_app.widgets.places import Pane, Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class Timeline(Feature):
    """Two panes: the timeline, and the charts."""

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.view, self.charts = TimelineView(), TurnsView()
        places.pane(Pane("timeline", "Timeline", self.view, "below", 5, tab=3, on_front=self.view.displayed.set_in_front))
        places.pane(Pane("charts", "Charts", self.charts, "below", 9, tab=4, on_front=self.charts.displayed.set_in_front))
        for pane in (self.view, self.charts):
            pane.event_chosen.connect(places.event_requested)

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        TimelineController(work, self.places.colours, self.view)
        TurnsController(work, self.charts)
