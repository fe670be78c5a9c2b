"""The door of the findings."""

from __future__ import annotations

from inspector_app.findings.findings_controller import FindingsController
from inspector_app.findings.findings_pane import FindingsPane
from inspector_app.widgets.places import Pane, Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class Findings(Feature):
    """What is wrong with sessions, in a pane.

    Attributes:
        controller: examines them; exists once started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self._pane = FindingsPane()
        places.pane(Pane("findings", "Findings", self._pane, "below", 8, tab=5, on_front=self._pane.set_displayed))

    def start(self, work: Workspace) -> None:
        """Make the controller."""
        self.controller = FindingsController(work, self._pane, self)
        self.controller.counted.connect(self._on_counted)

    def _on_counted(self, count: int) -> None:
        """Show the number of errors and warnings in the pane's title."""
        self.places.pane_titled.emit("findings", f"Findings  {count:,}" if count else "Findings")
