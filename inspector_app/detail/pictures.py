"""Thumbnails of the pictures in an event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from inspector_app.presentation.values import visible
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.layouts import named

if TYPE_CHECKING:
    from google.genai import types

# Only these formats are decoded. Others are named only: SVG, for example, can refer to files.
FORMATS = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}

MAX_PIXELS = 40_000_000
MAX_SHOWN = 8
_LARGEST = QSize(420, 240)


class Pictures(QScrollArea):
    """A row of pictures with captions; hidden if there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "content_pictures", "Pictures of the event")
        self.setWidgetResizable(True)
        self.hide()

    def set_pictures(self, blobs: Sequence[types.Blob]) -> None:
        """Replace the pictures.

        Args:
            blobs: data with media types; data that is not a picture is skipped.
        """
        pictures = [blob for blob in blobs if (blob.mime_type or "").startswith("image/")]
        self.setVisible(bool(pictures))
        if not pictures:
            self.takeWidget()
            return
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(10, 8, 10, 8)
        for blob in pictures[:MAX_SHOWN]:
            line.addLayout(_picture(blob))
        if len(pictures) > MAX_SHOWN:
            line.addWidget(plain_label(f"and {len(pictures) - MAX_SHOWN} more", role="secondary"))
        line.addStretch(1)
        self.setWidget(row)
        self.setFixedHeight(min(row.sizeHint().height() + 14, _LARGEST.height() + 60))


def _picture(blob: types.Blob) -> QVBoxLayout:
    """Return a picture above its caption, or the caption alone if the picture cannot be shown."""
    column = QVBoxLayout()
    image, words = _decoded(blob)
    if image is not None:
        shown = QLabel()
        shown.setPixmap(QPixmap.fromImage(image))
        shown.setAccessibleName(words)
        column.addWidget(shown)
    column.addWidget(plain_label(words, role="secondary"))
    column.addStretch(1)
    return column


def _decoded(blob: types.Blob) -> tuple[QImage | None, str]:
    """Return the picture, scaled down to the displayed size, and its description; or None and the reason."""
    data, media_type = blob.data or b"", blob.mime_type or ""
    name = f"{visible(media_type[:60])} · {len(data):,} bytes"
    if media_type not in FORMATS:
        return None, f"{name} · not shown"
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(FORMATS[media_type].encode()))
    reader.setDecideFormatFromContent(False)
    size = reader.size()
    if not size.isValid() or size.isEmpty():
        return None, f"{name} · damaged"
    if size.width() * size.height() > MAX_PIXELS:
        return None, f"{name} · {size.width():,} × {size.height():,}, too large to show"
    if size.width() > _LARGEST.width() or size.height() > _LARGEST.height():
        reader.setScaledSize(size.scaled(_LARGEST, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if image.isNull():
        return None, f"{name} · damaged"
    return image, f"{size.width():,} × {size.height():,} · {name}"
