"""Font Awesome glyphs, drawn from the font files of qtawesome.

qtawesome's Python part is not imported: it loads all ten fonts and all Qt classes, and this application needs one font.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPainter

_SIZE = 0.875  # font size relative to the glyph's square; leaves room for the parts outside the letter box

_CENTRED = int(Qt.AlignmentFlag.AlignCenter)


def paint_glyph(painter: QPainter, rect: QRect, name: str, colour: QColor) -> None:
    """Paint a glyph centred in a rectangle.

    Args:
        painter: the painter; its font and pen are changed.
        rect: the square to fill; the glyph is slightly smaller.
        name: a Font Awesome 6 solid name, such as `play`.
        colour: colour of the glyph.
    """
    family, characters = _solid()
    font = QFont(family)
    font.setStyleName("Solid")
    font.setPixelSize(max(round(_SIZE * rect.height()), 1))
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(rect, _CENTRED, characters[name])


@lru_cache(maxsize=1)
def _solid() -> tuple[str, dict[str, str]]:
    """Return the font's family and its characters by name."""
    found = find_spec("qtawesome")
    assert found is not None and found.submodule_search_locations
    folder = Path(found.submodule_search_locations[0]) / "fonts"
    (font,) = folder.glob("fontawesome6-solid-webfont-[0-9]*.ttf")
    (names,) = folder.glob("fontawesome6-solid-webfont-charmap-*.json")
    number = QFontDatabase.addApplicationFont(str(font))
    codes: dict[str, str] = json.loads(names.read_text("utf-8"))
    return QFontDatabase.applicationFontFamilies(number)[0], {name: chr(int(code, 16)) for name, code in codes.items()}
