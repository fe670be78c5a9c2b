"""The door of the graph of agents."""

from __future__ import annotations

from inspector_app.graph.graph_controller import GraphController
from inspector_app.graph.graph_pane import GraphPane
from inspector_app.widgets.places import Pane, Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class Graph(Feature):
    """The graph of agents.

    Attributes:
        graph: draws it.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self._pane = GraphPane()
        self.graph = self._pane.graph
        places.pane(Pane("graph", "Graph", self._pane, "below", 9, tab=4, on_front=self._pane.displayed.set_in_front))
        self.graph.event_chosen.connect(places.event_requested)

    def start(self, work: Workspace) -> None:
        """Make the controller."""
        GraphController(work, self.places.colours, self._pane)
