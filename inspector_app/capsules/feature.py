"""The door of capsules and replays."""

from __future__ import annotations

from inspector_app.capsules.capsule_controller import CapsuleController
from inspector_app.capsules.replay_controller import ReplayController
from inspector_app.widgets.hint_bar import ANSWERS
from inspector_app.widgets.places import Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class Capsules(Feature):
    """Sessions that run again with recorded answers, and capsules, which hold all that needs.

    Attributes:
        capsules, replays: the controllers; exist once started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self._replay = places.command("replay", "Replay with recorded answers…", "clapperboard", menu="Run", at=31)
        self._export = places.command("export_capsule", "Export as a capsule…", "box-archive", menu="Session", at=22)
        self._capsule_hint, self._replay_hint = places.hint("capsule_hint", ANSWERS), places.hint("replay_hint", ANSWERS)

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        self.capsules = CapsuleController(work, self._capsule_hint)
        self._export.triggered.connect(self.capsules.ask_for_selected)
        self.replays = ReplayController(work, self._replay_hint)
        self._replay.triggered.connect(self.replays.ask_for_selected)
