"""Buttons for the files that an event saved, and a dialog that shows one of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QPushButton, QVBoxLayout, QWidget

from inspector_app.detail.pictures import Pictures
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import push_button
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.text_dialog import TextDialog
from inspector_app.widgets.tooltips import set_tooltip

if TYPE_CHECKING:
    from google.genai import types

MOST_SHOWN = 8
_LONGEST_NAME = 40
_COLUMNS = 2
_TEXTS = ("text/", "application/json", "application/xml", "application/yaml")


class ArtifactButtons(QWidget):
    """One button for each saved file; hidden if there are none.

    Signals:
        asked (str, int): the user asked for this file in this version.
    """

    asked = Signal(str, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("artifacts")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(10, 8, 10, 4)
        self._grid.setColumnStretch(_COLUMNS, 1)
        self.hide()

    def set_artifacts(self, saved: Mapping[str, int]) -> None:
        """Replace the buttons.

        Args:
            saved: file name → version.
        """
        for old in self.findChildren(QPushButton):
            self._grid.removeWidget(old)
            old.hide()
            old.deleteLater()
        for number, (name, version) in enumerate(list(saved.items())[:MOST_SHOWN]):
            button = push_button(
                f"{_short(name)}  v{version}",
                "open_artifact",
                icon=theme.icon("file-lines"),
                does=f"Open the saved file {visible(name[:200])}, version {version}",
                parent=self,
            )
            set_tooltip(button, f"Saved here: {name}, version {version}")
            button.clicked.connect(partial(self._on_clicked, name, version))
            self._grid.addWidget(button, number // _COLUMNS, number % _COLUMNS)
        self.setVisible(bool(saved))

    def _on_clicked(self, name: str, version: int) -> None:
        self.asked.emit(name, version)


def artifact_dialog(name: str, version: int, part: types.Part, parent: QWidget) -> QDialog:
    """Return a dialog that shows a saved file: text, picture, or for other types a description.

    Args:
        name, version: identify the file.
        part: the file's content.
        parent: parent of the dialog.
    """
    title = f"{visible(name[:100])} · version {version}"
    blob = part.inline_data
    if blob is not None and (blob.mime_type or "").startswith("image/"):
        return _picture_dialog(title, blob, parent)
    return TextDialog(title, _text_of(part), parent)


def _text_of(part: types.Part) -> str:
    if part.text is not None:
        return part.text
    if part.file_data is not None:
        return f"Stored elsewhere: {part.file_data.file_uri} ({part.file_data.mime_type or 'unknown type'})"
    data = (part.inline_data.data if part.inline_data is not None else None) or b""
    media_type = (part.inline_data.mime_type if part.inline_data is not None else None) or "unknown type"
    if media_type.startswith(_TEXTS):
        return data.decode("utf-8", "replace")
    return f"{media_type}, {len(data):,} bytes: neither text nor a picture."


def _picture_dialog(title: str, blob: types.Blob, parent: QWidget) -> QDialog:
    dialog = named(QDialog(parent), "picture_dialog")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    pictures = Pictures()
    pictures.set_pictures([blob])
    close = QPushButton("Close")
    close.setAccessibleName("Close")
    close.clicked.connect(dialog.accept)
    laid_out(QVBoxLayout(dialog), (pictures, 1), (close, 0, Qt.AlignmentFlag.AlignRight))
    dialog.resize(520, 380)
    return dialog


def _short(name: str) -> str:
    return visible(name if len(name) <= _LONGEST_NAME else "…" + name[1 - _LONGEST_NAME :]).replace("&", "&&")
