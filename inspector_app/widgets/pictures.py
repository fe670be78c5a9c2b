"""Pictures of a pane, saved as PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QMarginsF, QPoint, QRect, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QImage, QPageSize, QPaintDevice, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QToolButton, QWidget

from inspector_app.widgets import theme
from inspector_app.widgets.file_dialogs import ask_where_to_write
from inspector_app.widgets.tooltips import set_tooltip

_FORMATS = {"PNG picture (*.png)": ".png", "SVG picture (*.svg)": ".svg", "PDF document (*.pdf)": ".pdf"}
_DOTS = 96  # to an inch: a pixel of the screen is one of the page
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
    set_tooltip(button, f"{does} ({key})" if key else does)
    button.setIcon(theme.icon(icon, "dim"))
    button.setProperty("small", "true")
    theme.keep_icon_size(button, 16)
    return button


def save_picture(file: str, size: QSize, paint: Paint) -> str:
    """Save a picture in the current theme; its suffix, `.svg`, `.pdf` or else PNG, tells the format.

    Args:
        file: the file; replaced if it exists.
        size: width and height in pixels; what is below 30,000 pixels is cut off.
        paint: paints it.

    Returns:
        A sentence that says why it failed; empty if it did not.
    """
    size = size.boundedTo(QSize(_HIGHEST, _HIGHEST))
    save = {".svg": _save_svg, ".pdf": _save_pdf}.get(Path(file).suffix.lower(), _save_png)
    saved = Path(file).parent.is_dir() and save(file, size, paint)
    return "" if saved else f"{file} could not be written. Check that its folder exists and is writable."


def _save_png(file: str, size: QSize, paint: Paint) -> bool:
    factor = _SHARP if size.width() * size.height() < _LARGE and max(size.toTuple()) * _SHARP < _HIGHEST else 1
    image = QImage(size * factor, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(factor)
    _paint(image, size, paint)
    return image.save(file)


def _save_svg(file: str, size: QSize, paint: Paint) -> bool:
    made = QSvgGenerator()
    made.setFileName(file)
    made.setSize(size)
    made.setViewBox(QRect(0, 0, size.width(), size.height()))
    return _paint(made, size, paint)


def _save_pdf(file: str, size: QSize, paint: Paint) -> bool:
    made = QPdfWriter(file)
    made.setResolution(_DOTS)
    made.setPageSize(QPageSize(QSizeF(size) / _DOTS, QPageSize.Unit.Inch))
    made.setPageMargins(QMarginsF())
    return _paint(made, size, paint)


def paint_widget(pane: QWidget) -> Paint:
    """Return what paints a widget as it is displayed, with parts whose own painting is postponed."""

    def paint(painter: QPainter) -> None:
        for part in pane.findChildren(QWidget):
            if part.testAttribute(Qt.WidgetAttribute.WA_ForceUpdatesDisabled):
                part.setUpdatesEnabled(True)  # Qt would leave them black
        pane.render(painter, QPoint())

    return paint


def ask_for_file(window: QWidget, what: str, chosen: Callable[[str], object]) -> None:
    """Ask where to save a picture.

    Args:
        window: the dialog belongs to it.
        what: the proposed name of the file, without suffix.
        chosen: called with the file.
    """
    ask_where_to_write(window, "Save as a picture", what, _FORMATS, chosen).setObjectName("save_picture")


def _paint(device: QPaintDevice, size: QSize, paint: Paint) -> bool:
    painter = QPainter()
    if not painter.begin(device):
        return False
    painter.fillRect(0, 0, size.width(), size.height(), theme.color("pane"))
    paint(painter)
    return painter.end()


class PictureButton(QToolButton):
    """A button that saves a picture of a pane.

    Signals:
        saved(str): a picture was saved; where, as a sentence.
        failed(str): it could not be saved; why.

    Args:
        pane: the pane; its object name is part of the button's.
        what: the proposed name of the file, without suffix.
        size: returns the size of the picture.
        paint: paints it.
    """

    saved = Signal(str)
    failed = Signal(str)

    def __init__(self, pane: QWidget, what: str, size: Callable[[], QSize], paint: Paint) -> None:
        super().__init__(pane)
        self.setObjectName(f"{pane.objectName()}_picture")
        self.setAccessibleName(f"Save the {what} as a picture…")
        set_tooltip(self, "Save as a picture (PNG, SVG or PDF)…")
        self.setIcon(theme.icon("image", "dim"))
        self.setProperty("small", "true")
        theme.keep_icon_size(self, 16)
        self._what = what
        self._size = size
        self._paint = paint
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self) -> None:
        ask_for_file(self.window(), self._what, self.save)

    def save(self, file: str) -> None:
        """Save the picture in a file."""
        if problem := save_picture(file, self._size(), self._paint):
            self.failed.emit(problem)
        else:
            self.saved.emit(f"The picture is in {file}.")
