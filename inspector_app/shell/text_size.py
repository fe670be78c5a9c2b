"""The commands that change the size of text, and Ctrl with the mouse wheel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea

from inspector_app.widgets import theme
from inspector_app.widgets.actions import allow

NOTCH = 120  # the angle by which most wheels turn at once, in eighths of a degree
OWN_WHEEL = "own_wheel"  # property of a view that does something else with Ctrl and the wheel


class TextSize(QObject):
    """Changes the size of text and rows in the whole window.

    Signals:
        changed(int): the new size in per cent.

    Args:
        larger, smaller, normal: the commands.
        areas: the views over which Ctrl and the wheel change the size.
    """

    changed = Signal(int)

    def __init__(self, larger: QAction, smaller: QAction, normal: QAction, areas: Iterable[QAbstractScrollArea], parent: QObject) -> None:
        super().__init__(parent)
        self._larger, self._smaller, self._normal = larger, smaller, normal
        self._turned = 0  # a touchpad reports parts of a notch
        larger.triggered.connect(self._on_larger)
        smaller.triggered.connect(self._on_smaller)
        normal.triggered.connect(self._on_normal)
        theme.current().changed.connect(self._allow)
        for area in areas:
            if not area.property(OWN_WHEEL):
                area.viewport().installEventFilter(self)
        self._allow()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Change the size when the wheel is turned while Ctrl is pressed."""
        if event.type() != QEvent.Type.Wheel:
            return False
        wheel = cast(QWheelEvent, event)
        if wheel.modifiers() != Qt.KeyboardModifier.ControlModifier:
            return False
        self._turned += wheel.angleDelta().y()
        notches = int(self._turned / NOTCH)
        self._turned -= notches * NOTCH
        if notches:
            self._step(notches)
        return True

    def _on_larger(self) -> None:
        self._step(1)

    def _on_smaller(self) -> None:
        self._step(-1)

    def _on_normal(self) -> None:
        self.set_scale(100)

    def _step(self, steps: int) -> None:
        place = theme.SCALES.index(theme.current().scale) + steps
        self.set_scale(theme.SCALES[min(max(place, 0), len(theme.SCALES) - 1)])

    def set_scale(self, scale: int) -> None:
        """Set the size in per cent, one of `theme.SCALES`."""
        if scale != theme.current().scale:
            theme.current().set_scale(scale)
            self.changed.emit(scale)

    def _allow(self) -> None:
        scale = theme.current().scale
        allow(self._larger, "The text has its largest size." if scale == theme.SCALES[-1] else None)
        allow(self._smaller, "The text has its smallest size." if scale == theme.SCALES[0] else None)
        allow(self._normal, "The text has its normal size." if scale == 100 else None)
