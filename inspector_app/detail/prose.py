"""A text that is as high as its content, for pages that scroll as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import QEvent, Qt, QUrl, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from inspector_app.detail.fields_html import OWN
from inspector_app.widgets import theme
from inspector_app.widgets.safe_browser import SafeBrowser

_ROLES = ("text", "dim", "accent", "ok", "warn", "bad", *(f"author{number}" for number in range(8)))
_NO_LIMIT = 16_777_215  # Qt's largest height


class Prose(SafeBrowser):
    """Markdown, plain text, or our own HTML, without a scroll bar of its own. The theme's roles are the HTML's classes.

    Signals:
        chosen (str): a link of our own HTML was followed; what follows its scheme.
    """

    chosen = Signal(str)

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.document().setDocumentMargin(0)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._draw: Callable[[], None] = lambda: None
        self._is_own = False
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        theme.current().changed.connect(self._on_theme_changed)

    def show_markdown(self, text: str) -> None:
        """Show Markdown of an agent."""
        self._show(lambda: self.set_markdown(text), is_own=False)

    def show_plain(self, text: str) -> None:
        """Show a text of an agent as it is, in the monospace font."""
        if self.property("mono") != "true":
            theme.use_mono(self)
        self._show(lambda: self.set_plain(text), is_own=False)

    def show_html(self, html: str) -> None:
        """Show HTML that this program made; texts of agents in it are escaped."""

        def draw() -> None:
            self.document().setDefaultStyleSheet(_style(theme.current().tokens, theme.current().scale))
            self.setHtml(html)

        self._show(draw, is_own=True)

    def _show(self, draw: Callable[[], None], *, is_own: bool) -> None:
        self._draw, self._is_own = draw, is_own
        draw()
        self._fit()

    def _on_theme_changed(self) -> None:
        self._draw()

    def _fit(self, *_: object) -> None:
        height = min(math.ceil(self.document().size().height()) + 2 * self.frameWidth() + 2, _NO_LIMIT)
        if height != self.height():
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height to another width."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Lay out again in another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_draw"):  # Qt calls it while it constructs
            self._draw()

    def _on_anchor_clicked(self, url: QUrl) -> None:
        if self._is_own and url.scheme() == OWN:
            self.chosen.emit(url.path())
        else:
            super()._on_anchor_clicked(url)


@lru_cache(maxsize=4)
def _style(_tokens: theme.Tokens, _scale: int) -> str:
    """Return the classes for our own HTML in the current theme, which the arguments tell."""
    mono = theme.mono_font()
    families = ", ".join(f"'{family}'" for family in mono.families())
    colours = " ".join(f".{role} {{ color: {theme.color(role).name()} }}" for role in _ROLES)
    grounds = " ".join(f".{role} {{ background-color: {theme.color(role).name()} }}" for role in ("added", "removed", "raised", "selected"))
    return (
        f"{colours} {grounds} a {{ color: {theme.color('accent').name()}; text-decoration: none }} "
        f".mono {{ font-family: {families}; font-size: {mono.pixelSize()}px }} "
        f".small {{ font-size: {theme.small_font().pixelSize()}px }} .gone {{ text-decoration: line-through }} p {{ margin: 0 0 6px 0 }}"
    )
