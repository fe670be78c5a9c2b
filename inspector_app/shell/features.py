"""The features of a window, in the order in which they place their parts and begin to work."""

from __future__ import annotations

from inspector_app.branches.feature import Branches
from inspector_app.capsules.feature import Capsules
from inspector_app.databases.feature import Databases
from inspector_app.detail.feature import Detail
from inspector_app.evals.feature import Evals
from inspector_app.findings.feature import Findings
from inspector_app.graph.feature import Graph
from inspector_app.opening.feature import Opening
from inspector_app.running.feature import Running
from inspector_app.sessions.feature import Sessions
from inspector_app.shell.feature import Shell
from inspector_app.shell.main_window import MainWindow
from inspector_app.stream.feature import Stream
from inspector_app.timeline.feature import Timeline
from inspector_app.widgets.places import Places
from inspector_app.workspace.feature import Feature


class Features:
    """The doors of all features.

    Controllers of one owner's signal run in this order: the stream shows a session before others add to it.
    """

    def __init__(self, places: Places) -> None:
        self.sessions = Sessions(places)
        self.stream = Stream(places)
        self.timeline = Timeline(places)
        self.detail = Detail(places)
        self.graph = Graph(places)
        self.opening = Opening(places)
        self.evals = Evals(places)
        self.capsules = Capsules(places)
        self.databases = Databases(places)
        self.running = Running(places)
        self.branches = Branches(places)
        self.findings = Findings(places)
        self.shell = Shell(places)
        self.all: list[Feature] = list(vars(self).values())


def make_window(places: Places) -> tuple[Features, MainWindow]:
    """Make the window of all features; they do nothing until they are started."""
    features = Features(places)
    window = MainWindow(places)
    features.shell.show_in(window)
    return features, window
