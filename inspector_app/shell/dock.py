"""The dock of one pane."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QAbstractButton, QDockWidget, QWidget

from inspector_app.shell.enter_presses import EnterPresses
from inspector_app.widgets.tooltips import set_tooltip


class Dock(QDockWidget):
    """A dock, whose buttons name its pane: Qt names those of all docks alike.

    A floating dock is its own window, and the main window does not get its keys.

    Args:
        name: its name in saved layouts.
        title: its title.
    """

    def __init__(self, name: str, title: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self.setObjectName(f"dock_{name}")
        self.setAccessibleName(title)
        self.topLevelChanged.connect(self._name_buttons)
        self._name_buttons()
        EnterPresses(self)

    def changeEvent(self, event: QEvent) -> None:
        """Name the buttons again, which Qt has named for another style."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._name_buttons()

    def _name_buttons(self, _changed: object = None) -> None:
        title = self.accessibleName()
        floats = f"{title} back into the window" if self.isFloating() else f"{title} in a window of its own"
        for name, does in (("close", f"Hide {title}"), ("float", floats)):
            button = self.findChild(QAbstractButton, f"qt_dockwidget_{name}button")
            if isinstance(button, QAbstractButton):
                button.setAccessibleName(does)
                set_tooltip(button, does)
