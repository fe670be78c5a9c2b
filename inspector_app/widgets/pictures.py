"""Pictures of a pane, saved as PNG or SVG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFileDialog, QToolButton, QWidget

from inspector_app.presentation.values import plain_tooltip
from inspector_app.widgets import theme

_FORMATS = "PNG picture (*.png);;SVG picture (*.svg)"
_SHARP = 2  # pixels of a PNG for each pixel of the screen, if it is not large
_LARGE = 16_000_000  # pixels; a larger picture has the screen's own
_HIGHEST = 30_000  # pixels; Qt paints no more

Paint = Callable[[QPainter], None]


def tool_button(name: str, icon: str, does: str, key: str = "") -> QToolButton:
    """Return a small button of a pane's tool bar.

    Args:
        name: its object name.
        icon: see `theme.icon`.
        does: what it does; its accessible name and tooltip.
        key: the key that does the same, for the tooltip.
    """
    button = QToolButton()
    button.setObjectName(name)
    button.setAccessibleName(does)
    button.setToolTip(plain_tooltip(f"{does} ({key})" if key else does))
    button.setIcon(theme.icon(icon, "dim"))
    button.setProperty("small", "true")
    return button


def save_picture(file: str, size: QSize, paint: Paint) -> str:
    """Save a picture in the current theme; its suffix, `.svg` or else PNG, tells the format.

    Args:
        file: the file; replaced if it exists.
        size: width and height in pixels; what is below 30,000 pixels is cut off.
        paint: paints it.

    Returns:
        A sentence that says why it failed; empty if it did not.
    """
    size = size.boundedTo(QSize(_HIGHEST, _HIGHEST))
    saved = _save_svg(file, size, paint) if file.lower().endswith(".svg") else _save_png(file, size, paint)
    return "" if saved else f"{file} could not be written. Check that its folder exists and is writable."


def _save_png(file: str, size: QSize, paint: Paint) -> bool:
    factor = _SHARP if size.width() * size.height() < _LARGE and max(size.toTuple()) * _SHARP < _HIGHEST else 1
    image = QImage(size * factor, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(factor)
    _paint(image, size, paint)
    return image.save(file)


def _save_svg(file: str, size: QSize, paint: Paint) -> bool:
    if not Path(file).parent.is_dir():
        return False
    made = QSvgGenerator()
    made.setFileName(file)
    made.setSize(size)
    made.setViewBox(QRect(0, 0, size.width(), size.height()))
    return _paint(made, size, paint)


def _paint(device: QImage | QSvgGenerator, size: QSize, paint: Paint) -> bool:
    painter = QPainter()
    if not painter.begin(device):
        return False
    painter.fillRect(0, 0, size.width(), size.height(), theme.color("pane"))
    paint(painter)
    return painter.end()


class PictureButton(QToolButton):
    """A button that saves a picture of a pane.

    Signals:
        saved(str, str): a picture was saved in this file, or could not be; why, or an empty text.

    Args:
        pane: the pane; its object name is part of the button's.
        what: the proposed name of the file, without suffix.
        size: returns the size of the picture.
        paint: paints it.
    """

    saved = Signal(str, str)

    def __init__(self, pane: QWidget, what: str, size: Callable[[], QSize], paint: Paint) -> None:
        super().__init__(pane)
        self.setObjectName(f"{pane.objectName()}_picture")
        self.setAccessibleName("Save as a picture…")
        self.setToolTip(plain_tooltip("Save as a picture (PNG or SVG)…"))
        self.setIcon(theme.icon("image", "dim"))
        self.setProperty("small", "true")
        self._what = what
        self._size = size
        self._paint = paint
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self) -> None:
        dialog = QFileDialog(self.window(), "Save as a picture")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(_FORMATS.split(";;"))
        dialog.setDefaultSuffix("png")
        dialog.selectFile(f"{self._what}.png")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("svg" if "svg" in chosen else "png"))
        dialog.fileSelected.connect(self.save)
        dialog.open()

    def save(self, file: str) -> None:
        """Save the picture in a file."""
        self.saved.emit(file, save_picture(file, self._size(), self._paint))
