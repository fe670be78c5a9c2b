from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QTabBar,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector_app.presentation.event_summary import ICONS
from inspector_app.sessions.session_node import MARKS
from inspector_app.timeline.timeline_painter import AGENT_OPACITY
from inspector_app.widgets import theme

GROUNDS = ("window", "pane", "raised", "selected", "added", "removed")
TEXTS = ("text", "dim", "accent", "ok", "warn", "bad")


def luminance(colour: str) -> float:
    """Return the relative luminance as defined by WCAG."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("tokens", "least"), [(theme.DARK, 4.5), (theme.LIGHT, 4.5), (theme.CONTRAST, 7)], ids=["dark", "light", "high contrast"]
)
def test_every_text_colour_is_readable_on_every_background(tokens: theme.Tokens, least: float) -> None:
    grounds = [getattr(tokens, name) for name in GROUNDS]
    texts = [*(getattr(tokens, name) for name in TEXTS), *tokens.authors]
    too_weak = [(text, ground) for text in texts for ground in grounds if contrast(text, ground) < least]
    assert too_weak == []
    assert contrast(tokens.on_accent, tokens.accent) >= least


@pytest.mark.parametrize("tokens", [theme.DARK, theme.LIGHT, theme.CONTRAST], ids=["dark", "light", "high contrast"])
def test_the_colours_of_agents_differ_from_each_other_and_from_that_of_waiting(tokens: theme.Tokens) -> None:
    assert len(set(tokens.authors)) == 8
    near = [one for one in tokens.authors if abs(QColor(one).hue() - QColor(tokens.warn).hue()) < 20]
    assert near == []


def blended(one: str, other: str, opacity: float) -> str:
    parts = (int(one[at : at + 2], 16) * opacity + int(other[at : at + 2], 16) * (1 - opacity) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part):02x}" for part in parts)


@pytest.mark.parametrize("tokens", [theme.DARK, theme.LIGHT, theme.CONTRAST], ids=["dark", "light", "high contrast"])
def test_what_is_drawn_differs_from_its_background(tokens: theme.Tokens) -> None:
    assert min(contrast(tokens.handle, ground) for ground in (tokens.window, tokens.pane, tokens.raised)) >= 3
    bars = [blended(role, tokens.pane, AGENT_OPACITY) for role in (*tokens.authors, tokens.dim)]
    assert min(contrast(bar, tokens.pane) for bar in bars) >= 3


def test_lines_of_the_high_contrast_theme_are_visible() -> None:
    assert min(contrast(theme.CONTRAST.line, getattr(theme.CONTRAST, ground)) for ground in GROUNDS) >= 4.5


@pytest.mark.parametrize("choice", ["dark", "light"])
def test_placeholder_text_is_readable(qapp: QApplication, qtbot: QtBot, choice: theme.Choice) -> None:
    look = theme.apply(qapp, choice)
    for field in (QLineEdit(), QPlainTextEdit()):
        qtbot.addWidget(field)
        field.show()
        placeholder = field.palette().color(QPalette.ColorRole.PlaceholderText)
        assert placeholder == QColor(look.tokens.dim), "not half transparent, Qt's default with a style sheet"


def test_what_is_disabled_is_told_apart_in_the_high_contrast_theme(qapp: QApplication, qtbot: QtBot) -> None:
    off = theme.CONTRAST.off
    assert contrast(off, theme.CONTRAST.text) >= 2.5
    assert min(contrast(off, ground) for ground in (theme.CONTRAST.window, theme.CONTRAST.raised)) >= 4.5, "and is still read"
    theme.apply(qapp, "contrast")
    button = QPushButton(theme.icon("play"), "Respond")
    qtbot.addWidget(button)
    button.show()
    colours = []
    for enabled in (True, False):
        button.setEnabled(enabled)
        picture = button.grab().toImage()
        colours.append({picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())})
    assert theme.CONTRAST.text in colours[0]
    assert off in colours[1] and not {theme.CONTRAST.text, theme.CONTRAST.dim, theme.CONTRAST.line} & colours[1]


def test_the_contrast_formula_gives_known_values() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("tokens", [theme.DARK, theme.LIGHT, theme.CONTRAST], ids=["dark", "light", "high contrast"])
def test_the_style_sheet_is_filled_completely(tokens: theme.Tokens) -> None:
    sheet = theme.style_sheet(tokens)
    assert "$" not in sheet
    assert tokens.pane in sheet and tokens.accent in sheet


def test_a_chosen_theme_stays_and_system_follows_the_desktop(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    look = theme.apply(qapp, "light")
    assert look.tokens is theme.LIGHT
    assert qapp.palette().window().color() == QColor(theme.LIGHT.window)
    monkeypatch.setattr(theme, "_system_is_dark", lambda: True)
    QGuiApplication.styleHints().colorSchemeChanged.emit(QGuiApplication.styleHints().colorScheme())
    assert look.tokens is theme.LIGHT, "a forced theme does not follow the system"
    assert theme.apply(qapp, "system") is look
    assert look.dark
    monkeypatch.setattr(theme, "_system_is_dark", lambda: False)
    QGuiApplication.styleHints().colorSchemeChanged.emit(QGuiApplication.styleHints().colorScheme())
    assert not look.dark
    assert theme.color("dim") == QColor(theme.LIGHT.dim)


def colours_in(icon: QIcon) -> set[str]:
    image = icon.pixmap(32, 32).toImage()
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


def test_an_icon_set_once_follows_the_theme(qapp: QApplication) -> None:
    icon = theme.icon("play", "accent")
    assert theme.DARK.accent in colours_in(icon)
    theme.apply(qapp, "light")
    assert theme.LIGHT.accent in colours_in(icon)
    assert theme.DARK.accent not in colours_in(icon)


def test_every_used_icon_exists() -> None:
    names = {*ICONS.values(), *(icon for icon, _, _ in MARKS.values()), "hourglass-half", "key", "keyboard", "copy", "lock", "database"}
    names |= {"cube", "user", "chevron-down", "chevron-right", "circle-arrow-right", "square-minus", "square-plus", "up-right-from-square"}
    for name in names:
        assert not theme.pixmap(name, "text", 16, 1.0).toImage().isNull()
        assert colours_in(theme.icon(name))


def test_pixmaps_use_the_device_pixel_ratio(qapp: QApplication) -> None:
    drawn = theme.pixmap("play", "ok", 14, 2.0)
    assert (drawn.width(), drawn.deviceIndependentSize().width()) == (28, 14)


def test_the_style_sheet_reaches_widgets(qtbot) -> None:
    label = QLabel("warned")
    label.setProperty("role", "warn")
    qtbot.addWidget(label)
    label.ensurePolished()
    assert label.palette().windowText().color() == QColor(theme.DARK.warn)


@pytest.mark.parametrize("choice", ["dark", "light"])
def test_a_check_box_is_visible_in_both_states(qapp: QApplication, qtbot: QtBot, choice: theme.Choice) -> None:
    look = theme.apply(qapp, choice)
    box = QCheckBox("Markdown")
    qtbot.addWidget(box)
    box.show()
    for checked, colour in ((True, look.tokens.accent), (False, look.tokens.dim)):
        box.setChecked(checked)
        picture = box.grab().toImage()
        height, width = picture.height(), 16
        pixels = [picture.pixelColor(x, y).name() for x in range(width) for y in range(height)]
        assert pixels.count(colour) > 20, "its background, or its border"


@pytest.mark.parametrize("choice", ["dark", "light"])
def test_selected_text_and_a_focused_tab_are_visible(qapp: QApplication, qtbot: QtBot, choice: theme.Choice) -> None:
    look = theme.apply(qapp, choice)
    part = QWidget()
    rows = QVBoxLayout(part)
    number, tabs = QSpinBox(), QTabBar()
    tabs.addTab("Content")
    rows.addWidget(number)
    rows.addWidget(tabs)
    qtbot.addWidget(part)
    part.show()
    part.activateWindow()
    qtbot.waitUntil(part.isActiveWindow)
    for widget, colour in ((number, look.tokens.accent), (tabs, look.tokens.selected)):
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        number.selectAll()
        picture = widget.grab(widget.rect().adjusted(4, 4, -4, -4)).toImage()
        pixels = [picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())]
        assert pixels.count(colour) > 40, widget
