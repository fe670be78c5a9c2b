"""The look: colour tokens of three themes, the style sheet made from them, fonts, and icons that follow the theme.

Views ask for a role (`dim`, `warn`, `author1`), never for a colour, so that a theme change reaches every widget.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Literal

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QTableView,
    QToolBar,
    QToolButton,
    QWidget,
)

from inspector_app.widgets.glyphs import paint_glyph

Choice = Literal["light", "dark", "contrast", "system"]
BASE_SIZE = 13  # pixels of text at a scale of 1
SMALL_SIZE = 11  # pixels of secondary text
HEADING_SIZE = 20
COMPACT = 80  # per cent of a row's height where rows are compact
SMALLEST_ROW = 17  # pixels at a scale of 100 %; letters of 13 pixels need no more
SCALES = (80, 90, 100, 110, 125, 150, 175, 200)  # per cent; the steps between smaller and larger text


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours of one theme, as `#rrggbb`.

    Attributes:
        window, pane, raised, selected, added, removed: background colours.
        line: thin borders and rules; not for text.
        handle: handles of scroll bars.
        text, dim, accent, ok, warn, bad: text and icon colours, each readable on every background.
        off: text of what is disabled.
        authors: eight colours that distinguish agents; some also distinguish the scopes of state.
        on_accent: text on an accent background.
    """

    window: str
    pane: str
    raised: str
    selected: str
    added: str
    removed: str
    line: str
    handle: str
    text: str
    dim: str
    off: str
    accent: str
    ok: str
    warn: str
    bad: str
    authors: tuple[str, ...]
    on_accent: str


DARK = Tokens(
    window="#16181d",
    pane="#1c1f26",
    raised="#242833",
    selected="#263452",
    added="#1d3a2b",
    removed="#43262a",
    line="#2e333f",
    handle="#6b7386",
    text="#e4e7ee",
    dim="#a3abbd",
    off="#a3abbd",
    accent="#8ab8ff",
    ok="#72cc97",
    warn="#ecb95c",
    bad="#ff8f8b",
    authors=("#7bc8a4", "#c79bf2", "#f095c8", "#6ec6e6", "#9db2ff", "#c3d06a", "#d8a5cf", "#a9c1d9"),
    on_accent="#16181d",
)
LIGHT = Tokens(
    window="#eef0f4",
    pane="#ffffff",
    raised="#f6f7fa",
    selected="#e3ecfd",
    added="#dff3e7",
    removed="#fbe3e2",
    line="#dde1e9",
    handle="#7d859a",
    text="#1d2330",
    dim="#565e74",
    off="#565e74",
    accent="#1d55c0",
    ok="#17683f",
    warn="#7f5200",
    bad="#b02522",
    authors=("#176a44", "#6d35b3", "#9c2170", "#0b5f79", "#3b4cc0", "#56610c", "#7a3b6e", "#3f5a73"),
    on_accent="#ffffff",
)
# Text has a contrast of 7 or more on every ground (WCAG's AAA), and lines are as visible as text. What is disabled is grey
# with a dashed border.
CONTRAST = Tokens(
    window="#000000",
    pane="#000000",
    raised="#141414",
    selected="#00307a",
    added="#003a12",
    removed="#520000",
    line="#c8c8c8",
    handle="#c8c8c8",
    text="#ffffff",
    dim="#e6e6e6",
    off="#949494",
    accent="#ffe14d",
    ok="#8dff9d",
    warn="#ffd08a",
    bad="#ffc2c2",
    authors=("#8dffb0", "#f0c8ff", "#ffc0e4", "#9fe8ff", "#c8d4ff", "#e8f29a", "#f5d0ee", "#cfe3f5"),
    on_accent="#000000",
)

MONOSPACE = ["SF Mono", "Menlo", "Cascadia Mono", "Consolas", "JetBrains Mono", "DejaVu Sans Mono", "Liberation Mono", "monospace"]


class Theme(QObject):
    """The current theme.

    Attributes:
        choice: the user's choice; `system` follows the desktop.
        tokens: the current colours.
        colors: cache of QColor by role; every cell of a table asks for several.
        scale: size of text and rows in per cent, one of `SCALES`.
        is_compact: whether rows of lists, trees and tables are low.

    Signals:
        changed: the colours, the scale or the height of rows changed; widgets that keep fonts, pixmaps or highlighted text must make them
            again.
    """

    changed = Signal()

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self.choice: Choice = "system"
        self.tokens = LIGHT
        self.colors: dict[str, QColor] = {}
        self.scale = 100
        self.is_compact = False
        self._in_force = False
        app.setStyle("Fusion")
        self._set_font()
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_changed)

    @property
    def dark(self) -> bool:
        """Whether the colours are light on dark."""
        return self.tokens is not LIGHT

    def choose(self, choice: Choice) -> None:
        """Apply a theme.

        Args:
            choice: `system` follows the desktop from then on.
        """
        self.choice = choice
        hints = QGuiApplication.styleHints()
        if choice == "system":
            hints.unsetColorScheme()
        else:
            hints.setColorScheme(Qt.ColorScheme.Light if choice == "light" else Qt.ColorScheme.Dark)
        self._put_in_force()

    def set_scale(self, scale: int) -> None:
        """Set the size of text and rows.

        Args:
            scale: per cent; the nearest one of `SCALES` is used.
        """
        scale = min(SCALES, key=lambda step: abs(step - scale))
        if scale != self.scale:
            self.scale = scale
            self._set_font()
            self._app.setStyleSheet(style_sheet(self.tokens, scale, is_compact=self.is_compact))
            self.changed.emit()

    def set_compact(self, is_compact: bool) -> None:
        """Set whether rows of lists, trees and tables are low."""
        if is_compact != self.is_compact:
            self.is_compact = is_compact
            self._app.setStyleSheet(style_sheet(self.tokens, self.scale, is_compact=is_compact))
            self.changed.emit()

    def _set_font(self) -> None:
        font = self._app.font()
        font.setPixelSize(scaled(BASE_SIZE, self.scale))
        self._app.setFont(font)

    def _on_system_changed(self) -> None:
        if self.choice == "system":
            self._put_in_force()

    def _put_in_force(self) -> None:
        dark = self.choice == "dark" or (self.choice == "system" and _system_is_dark())
        tokens = CONTRAST if self.choice == "contrast" else DARK if dark else LIGHT
        if self._in_force and tokens is self.tokens:
            return
        self._in_force = True
        self.tokens = tokens
        self.colors = {}
        self._app.setPalette(palette(self.tokens))
        self._app.setStyleSheet(style_sheet(self.tokens, self.scale, is_compact=self.is_compact))
        self.changed.emit()


def scaled(pixels: int, scale: int) -> int:
    """Return a length at a scale in per cent, at least one pixel."""
    return max(round(pixels * scale / 100), 1)


def px(pixels: int) -> int:
    """Return a length at the current scale: sizes of text, and rooms that depend on them."""
    return scaled(pixels, current().scale)


def row_px(pixels: int) -> int:
    """Return the height of a row at the current scale and density.

    Args:
        pixels: the height of a comfortable row at a scale of 100 %.
    """
    return px(_row(pixels, current().is_compact))


def _row(pixels: int, is_compact: bool) -> int:
    return min(pixels, max(scaled(pixels, COMPACT), SMALLEST_ROW)) if is_compact else pixels


def _system_is_dark() -> bool:
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


_theme: Theme | None = None


def apply(app: QApplication, choice: Choice) -> Theme:
    """Apply the application's look and a theme.

    Call it once after the QApplication is made, and again when the user chooses another theme.

    Args:
        app: the application.
        choice: `light`, `dark`, `contrast`, or `system` to follow the desktop.
    """
    global _theme
    if _theme is None or _theme.parent() is not app:
        _theme = Theme(app)
    _theme.choose(choice)
    return _theme


def current() -> Theme:
    """Return the current theme.

    Raises:
        RuntimeError: `apply` has not been called.
    """
    if _theme is None:
        raise RuntimeError("No theme is applied: call theme.apply(app, choice) first.")
    return _theme


def color(role: str) -> QColor:
    """Return the current colour of a role.

    Args:
        role: a token's name, or `author0` … `author7`.
    """
    made = current().colors
    if role not in made:
        made[role] = QColor(_hex(role))
    return made[role]


def _hex(role: str) -> str:
    tokens = current().tokens
    if role.startswith("author"):
        return tokens.authors[int(role.removeprefix("author"))]
    value: str = getattr(tokens, role)
    return value


def mono_font() -> QFont:
    """Return the monospace font for values."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setFamilies(_mono_families())
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPixelSize(px(BASE_SIZE - 1))
    return font


@lru_cache
def _mono_families() -> list[str]:
    return [family for family in MONOSPACE if family == "monospace" or QFontDatabase.hasFamily(family)]


def small_font() -> QFont:
    """Return the font for secondary text."""
    font = QFont(QApplication.font())
    font.setPixelSize(px(SMALL_SIZE))
    return font


def use_mono(widget: QWidget) -> None:
    """Give a widget the monospace font. The style sheet sets it, as that would undo a font that is set directly."""
    widget.setProperty("mono", "true")
    widget.ensurePolished()
    restyle(widget)


def keep_row_height(table: QTableView, pixels: int) -> None:
    """Give all rows of a table a height, which follows the scale and the density.

    Args:
        table: the table.
        pixels: the height of a comfortable row at a scale of 100 %.
    """
    _Kept(table, pixels, _set_row_height)


def keep_icon_size(widget: QAbstractItemView | QToolBar | QAbstractButton, pixels: int) -> None:
    """Give the icons of a widget a size, which follows the scale.

    Args:
        widget: a view, tool bar or button.
        pixels: width and height at a scale of 100 %.
    """
    _Kept(widget, pixels, _set_icon_size)


class _Kept(QObject):
    """Keeps a length of its parent. It asks for the parent each time: a reference would keep a deleted table's memory."""

    def __init__(self, widget: QWidget, pixels: int, put: Callable[[Any, int], None]) -> None:
        super().__init__(widget)
        self._pixels, self._put = pixels, put
        current().changed.connect(self._set)
        self._set()

    def _set(self) -> None:
        self._put(self.parent(), self._pixels)


def _set_icon_size(widget: QAbstractItemView | QToolBar | QAbstractButton, pixels: int) -> None:
    widget.setIconSize(QSize(px(pixels), px(pixels)))


def _set_row_height(table: QTableView, pixels: int) -> None:
    table.verticalHeader().setMinimumSectionSize(row_px(pixels))
    table.verticalHeader().setDefaultSectionSize(row_px(pixels))


def with_widest_digits(text: str) -> str:
    """Return the text with wide digits, so that a width measured from it changes only when the number of digits changes."""
    return re.sub(r"\d", "8", text)


def pad(field: QAbstractSpinBox) -> None:
    """Give a spin box the text margin of the other fields, which the style sheet cannot set."""
    field.lineEdit().setTextMargins(7, 0, 0, 0)


def restyle(widget: QWidget) -> None:
    """Apply the style sheet again to a widget whose properties changed."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def make_clearable(field: QLineEdit) -> None:
    """Add a clear button whose icon follows the theme."""
    field.setClearButtonEnabled(True)
    button = field.findChild(QToolButton)
    assert button is not None
    button.setIcon(icon("circle-xmark", "dim"))


def icon(name: str, role: str = "text") -> QIcon:
    """Return an icon that is painted in its role's current colour, so that it follows the theme.

    Give the icon to Qt and do not keep it in an attribute: when the process ends, Python may delete its engine first, which crashes.

    Args:
        name: a Font Awesome 6 solid name without prefix, such as `play`.
        role: a role of `color`.
    """
    return QIcon(_RoleIconEngine(name, role))


def pixmap(name: str, role: str, size: int, ratio: float) -> QPixmap:
    """Return an icon as a cached pixmap, for delegates.

    Args:
        name, role: as in `icon`.
        size: width and height in device-independent pixels.
        ratio: device pixel ratio to draw for.
    """
    return _pixmap(name, _hex(role), size, ratio)


@lru_cache(maxsize=512)
def _pixmap(name: str, colour: str, size: int, ratio: float) -> QPixmap:
    side = round(size * ratio)
    drawn = QPixmap(side, side)
    drawn.fill(Qt.GlobalColor.transparent)
    with QPainter(drawn) as painter:
        paint_glyph(painter, QRect(0, 0, side, side), name, QColor(colour))
    drawn.setDevicePixelRatio(ratio)
    return drawn


class _RoleIconEngine(QIconEngine):
    """An icon engine that paints a glyph in its role's current colour."""

    def __init__(self, name: str, role: str) -> None:
        super().__init__()
        self._name = name
        self._role = role

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Paint the glyph, faded if the icon is disabled."""
        disabled = mode == QIcon.Mode.Disabled
        painter.save()
        if disabled:
            painter.setOpacity(0.45 if current().tokens is not CONTRAST else 1)
        # Slightly smaller, with room on the right: styles put a button's text close to its icon.
        less = rect.height() // 8
        inner = rect.adjusted(0, less // 2, -less, less // 2 - less)
        paint_glyph(painter, inner, self._name, color("off" if disabled else self._role))
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return the glyph on a transparent background."""
        drawn = QPixmap(size)
        drawn.fill(Qt.GlobalColor.transparent)
        with QPainter(drawn) as painter:
            self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        return drawn

    def clone(self) -> QIconEngine:
        """Return a copy; Qt calls this when an icon is modified."""
        return _RoleIconEngine(self._name, self._role)


def palette(tokens: Tokens) -> QPalette:
    """Return Fusion's palette in a theme's colours, for everything the style sheet does not cover."""
    made = QPalette()
    role = QPalette.ColorRole
    for which, colour in {
        role.Window: tokens.window,
        role.WindowText: tokens.text,
        role.Base: tokens.pane,
        role.AlternateBase: tokens.raised,
        role.Text: tokens.text,
        role.PlaceholderText: tokens.dim,
        role.Button: tokens.raised,
        role.ButtonText: tokens.text,
        role.BrightText: tokens.bad,
        role.ToolTipBase: tokens.raised,
        role.ToolTipText: tokens.text,
        role.Highlight: tokens.selected,
        role.HighlightedText: tokens.text,
        role.Link: tokens.accent,
        role.LinkVisited: tokens.accent,
        role.Accent: tokens.accent,
        role.Light: tokens.raised,
        role.Midlight: tokens.raised,
        role.Mid: tokens.line,
        role.Dark: tokens.line,
        role.Shadow: tokens.window,
    }.items():
        made.setColor(which, QColor(colour))
    for which in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, which, QColor(tokens.off))
    return made


def style_sheet(tokens: Tokens, scale: int = 100, *, is_compact: bool = False) -> str:
    """Return the style sheet in a theme's colours, with text at a scale in per cent."""
    template = Template(files("inspector_app.resources").joinpath("style.qss").read_text("utf-8"))
    names = {field.name: getattr(tokens, field.name) for field in fields(tokens) if field.name != "authors"}
    shade = "dark" if QColor(tokens.window).lightness() < 128 else "light"
    drawings = {
        what: Path(str(files("inspector_app.resources"))).joinpath(f"{what}_{shade}.svg").as_posix()
        for what in ("up", "down", "check", "close", "float")
    }
    off_border = f"1px dashed {tokens.off}" if tokens is CONTRAST else f"1px solid {tokens.line}"
    sizes = {
        "base": BASE_SIZE,
        "small": SMALL_SIZE,
        "heading": HEADING_SIZE,
        "letters": 16,
        "dock_button": 18,
        "dock_button_beside": 20,  # from the right edge to the button beside the last one
        "row": _row(22, is_compact),
        "mono_size": BASE_SIZE - 1,
    }
    families = ", ".join(f'"{family}"' for family in _mono_families())
    return template.substitute(
        names, mono=families, off_border=off_border, **drawings, **{name: f"{scaled(size, scale)}px" for name, size in sizes.items()}
    )
