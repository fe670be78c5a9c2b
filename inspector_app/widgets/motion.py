"""Whether the window may move what is displayed: panes that slide to their place, menus that fade in, and a text cursor that blinks."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QStyleHints
from PySide6.QtWidgets import QApplication, QMainWindow

MOTIONS = {"system": "Follow the system", "reduced": "Reduced", "full": "Full"}
BLINKING_MS = 10_000  # a text cursor blinks so long after it came: each blink wakes and paints a window in which nothing happens
_EFFECTS = (Qt.UIEffect.UI_AnimateMenu, Qt.UIEffect.UI_FadeMenu, Qt.UIEffect.UI_AnimateCombo, Qt.UIEffect.UI_AnimateTooltip)


class Motion(QObject):
    """Applies the choice to the application and to a window with docks.

    Args:
        window: its docks slide to their place, unless motion is reduced.
    """

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        # Kept: once Python forgets these hints, those of accessibility that they gave are unusable.
        self._hints = QGuiApplication.styleHints()
        self._flash = _flash_time()
        self._still = QTimer(self, singleShot=True)
        self._still.timeout.connect(lambda: self._hints.setCursorFlashTime(0))
        self._effects = {effect: QApplication.isEffectEnabled(effect) for effect in _EFFECTS}
        self.choice = "system"
        preferred = getattr(_accessibility(self._hints), "motionPreferenceChanged", None)
        if preferred is not None:
            preferred.connect(self._on_preferred)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._blink)

    @property
    def is_reduced(self) -> bool:
        """Whether nothing moves by itself."""
        return self.choice == "reduced" or (self.choice == "system" and _prefers_less(self._hints))

    def choose(self, choice: str) -> None:
        """Apply a choice.

        Args:
            choice: a key of `MOTIONS`; others count as `system`.
        """
        self.choice = choice if choice in MOTIONS else "system"
        self._apply()

    def _on_preferred(self) -> None:
        self._apply()

    def _apply(self) -> None:
        moves = not self.is_reduced
        self._window.setAnimated(moves)
        self._blink()
        for effect, was_enabled in self._effects.items():
            QApplication.setEffectEnabled(effect, moves and was_enabled)

    def _blink(self) -> None:
        """Let the text cursor blink for a while, unless motion is reduced; then it stays visible."""
        self._hints.setCursorFlashTime(0 if self.is_reduced else self._flash)
        self._still.start(BLINKING_MS)


@cache
def _flash_time() -> int:
    """Return the system's time of a blink in milliseconds, read before anything here changes it."""
    return QGuiApplication.styleHints().cursorFlashTime()


def _accessibility(hints: QStyleHints) -> object | None:
    """Return what Qt knows of the system's accessibility settings; None before Qt 6.10."""
    known = getattr(hints, "accessibility", None)
    return known() if known is not None else None


def _prefers_less(hints: QStyleHints) -> bool:
    """Return whether the system asks for reduced motion. Qt tells it since 6.12; older ones leave it to the setting."""
    preference: Any = getattr(_accessibility(hints), "motionPreference", None)
    return preference is not None and cast(str, preference().name) == "ReducedMotion"
