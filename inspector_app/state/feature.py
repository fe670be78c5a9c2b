"""The door of the state's history; the details show the state itself."""

from __future__ import annotations

from inspector_app.state.writers_controller import WritersController
from inspector_app.state.writers_pane import WritersPane
from inspector_app.widgets.places import Pane, Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class State(Feature):
    """Who wrote a key of the state, in a pane.

    Attributes:
        who_wrote: the command that asks it for the selected key.
        writers: answers it; exists once started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self._pane = WritersPane()
        places.pane(Pane("writers", "Who wrote", self._pane, "below", 6, tab=6))
        self.who_wrote = places.command("who_wrote", "Who wrote this key", "user-pen", "Ctrl+Shift+W", menu="Find", at=32, needs="open")

    def start(self, work: Workspace) -> None:
        """Make the controller."""
        self.writers = WritersController(work, self._pane)
        self.writers.answered.connect(self._on_answered)

    def _on_answered(self) -> None:
        self.places.pane_requested.emit("writers")
