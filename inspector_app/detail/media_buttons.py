"""Buttons for the sounds, films and documents in an event, and a line for what is not opened."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from inspector_app.detail.media_files import is_openable, is_played
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.tooltips import set_tooltip

if TYPE_CHECKING:
    from google.genai import types

MOST_SHOWN = 8
LONGEST_TYPE = 32  # characters; a longer name of a type would widen the pane


class MediaButtons(QWidget):
    """One button for each sound, film or document; hidden if there are none. Pictures are shown elsewhere.

    Signals:
        asked (types.Blob): the user asked to open this one.
    """

    asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("media")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(10, 8, 10, 4)
        self.hide()

    def set_blobs(self, blobs: Sequence[types.Blob]) -> None:
        """Replace the buttons.

        Args:
            blobs: data with media types; pictures are skipped.
        """
        for old in self.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            self._column.removeWidget(old)
            old.hide()
            old.deleteLater()
        others = [blob for blob in blobs if not (blob.mime_type or "").startswith("image/")]
        for blob in others[:MOST_SHOWN]:
            shown = (
                self._button(blob)
                if is_openable(blob)
                else plain_label(f"{_words(blob)} · not opened: no known type", role="secondary", wraps=True)
            )
            self._column.addWidget(shown, 0, Qt.AlignmentFlag.AlignLeft if is_openable(blob) else Qt.AlignmentFlag(0))
        if len(others) > MOST_SHOWN:
            self._column.addWidget(plain_label(f"and {len(others) - MOST_SHOWN} more", role="secondary", wraps=True))
        self.setVisible(bool(others))

    def _button(self, blob: types.Blob) -> QPushButton:
        played = is_played(blob)
        button = push_button(
            f"{'Play' if played else 'Open'} {_words(blob)}",
            "open_media",
            partial(self._on_clicked, blob),
            icon=theme.icon("play" if played else "file-lines"),
            parent=self,
        )
        set_tooltip(button, "Opens a temporary copy with this system's program for such files")
        return button

    def _on_clicked(self, blob: types.Blob) -> None:
        self.asked.emit(blob)


def open_with_system(file: Path) -> bool:
    """Open a file with the system's program for it; return whether there is one."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))


def _words(blob: types.Blob) -> str:
    kind = blob.mime_type or "unknown type"
    kind = kind if len(kind) <= LONGEST_TYPE else f"{kind[: LONGEST_TYPE - 1]}…"
    return f"{visible(kind)} · {len(blob.data or b''):,} bytes".replace("&", "&&")
