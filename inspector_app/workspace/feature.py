"""The door of a feature."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.widgets.places import Places
from inspector_app.workspace.workspace import Workspace


class Feature(QObject):
    """The door of a feature: what it places in the window, and what other code may use of it.

    A door makes its widgets and commands in the constructor, so that a window can be made without owners, and its controllers in `start`.

    Args:
        places: what it fills.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.places = places

    def start(self, work: Workspace) -> None:
        """Make the controllers, and hand them the owners that they use. The window is made by then."""

    def close(self) -> None:
        """Release what the feature holds: the window is being closed."""
