"""A button that names a line of an agent's code and opens it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from inspector_app.presentation.code_link import CodeLink
from inspector_app.presentation.values import plain_tooltip, visible
from inspector_app.widgets import theme
from inspector_app.widgets.tooltips import set_tooltip

_LONGEST = 28  # characters of the place; the tooltip has the whole path


class CodeButton(QToolButton):
    """A button for the first of some places in the code, with a menu of all.

    Attributes:
        links: the places.

    Signals:
        code_requested(str, int): open this file at this line.

    Args:
        name: object name.
        parent: the parent.
        keeps_room: whether nothing moves when there is no code.
    """

    code_requested = Signal(str, int)

    def __init__(self, name: str, parent: QWidget | None = None, *, keeps_room: bool = False) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("code", "true")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        theme.keep_icon_size(self, 12)
        kept = self.sizePolicy()
        kept.setRetainSizeWhenHidden(keeps_room)
        self.setSizePolicy(kept)
        self.setAccessibleName("Open the code")
        self.setIcon(theme.icon("code", "dim"))
        self.links: Sequence[CodeLink] = ()
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self.clicked.connect(self._on_clicked)
        self.hide()

    def set_links(self, links: Sequence[CodeLink]) -> None:
        """Show the places, the most specific first; the button is hidden if there is none."""
        if links == self.links:
            return
        self.links = links
        self.setVisible(bool(links))
        self._menu.clear()
        if not links:
            return
        first, place = links[0], visible(links[0].place)
        self.setText(place if len(place) <= _LONGEST else f"…{place[-_LONGEST:]}")
        self.setAccessibleName(f"Open the code of {visible(first.what)}, {place}")
        set_tooltip(self, f"{visible(first.what)}: {visible(first.file)}, line {first.line}\nOpen it in your editor (Ctrl+E)")
        for link in links:
            action = self._menu.addAction(visible(f"{link.what} · {link.place}"))
            action.setToolTip(plain_tooltip(f"{visible(link.file)}, line {link.line}"))
            action.triggered.connect(partial(self._open, link))
        several = len(links) > 1
        if several:
            self.setMenu(self._menu)
            self.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        else:
            self.setMenu(None)  # type: ignore[arg-type]  # removes it
            self.setPopupMode(QToolButton.ToolButtonPopupMode.DelayedPopup)

    def minimumSizeHint(self) -> QSize:
        """Return the room for the icon, so that the button does not widen the window."""
        return QSize(self.iconSize().width() + 8, super().minimumSizeHint().height())

    def _open(self, link: CodeLink, _checked: bool = False) -> None:
        self.code_requested.emit(link.file, link.line)

    def _on_clicked(self) -> None:
        self._open(self.links[0])
