"""What happens to files and folders that are dragged over the window."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget


class DropTarget(QObject):
    """Accepts files and folders that are dropped anywhere on the window, but not an event of this window.

    Signals:
        drag_changed(bool): something that can be dropped is over the window, or no more.

    Args:
        window: the window.
        dropped: called with the paths that are dropped.
    """

    drag_changed = Signal(bool)

    def __init__(self, window: QWidget, dropped: Callable[[list[str]], None]) -> None:
        super().__init__(window)
        self._dropped = dropped
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Handle what is dragged; leave all else to the window."""
        kind = event.type()
        if kind not in (QEvent.Type.DragEnter, QEvent.Type.Drop):
            if kind == QEvent.Type.DragLeave:
                self.drag_changed.emit(False)
            return False
        drop = cast(QDropEvent, event)  # a drag that enters is one too
        paths = [url.toLocalFile() for url in drop.mimeData().urls() if url.isLocalFile()]
        if paths and drop.source() is None:
            drop.acceptProposedAction()
        self.drag_changed.emit(kind == QEvent.Type.DragEnter and drop.isAccepted())
        if paths and kind == QEvent.Type.Drop:
            self._dropped(paths)
        return True
