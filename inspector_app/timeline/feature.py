"""The door of the timeline, and of the charts of turns."""

from __future__ import annotations

from inspector_app.timeline.timeline_controller import TimelineController
from inspector_app.timeline.timeline_pane import TimelinePane
from inspector_app.timeline.turns_controller import TurnsController
from inspector_app.widgets.places import Pane, Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class Timeline(Feature):
    """One pane with the timeline and the charts.

    Attributes:
        pane: the pane.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.pane = TimelinePane()
        self.view, self.charts = self.pane.axis, self.pane.charts
        places.pane(Pane("timeline", "Timeline", self.pane, "below", 5, tab=3, on_front=self.pane.set_in_front))
        places.parts.timeline, places.parts.charts = self.view, self.charts
        for view in (self.view, self.charts):
            view.event_chosen.connect(places.event_requested)

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        TimelineController(work, self.places.colours, self.view)
        TurnsController(work, self.charts)
