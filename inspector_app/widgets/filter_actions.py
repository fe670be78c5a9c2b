"""The submenu that filters the event stream by a menu's item."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtWidgets import QMenu

from inspector_app.presentation.values import plain_tooltip
from inspector_app.widgets import theme


def add_filter_actions(menu: QMenu, filters: Iterable[tuple[str, str]], apply: Callable[[str], object]) -> None:
    """Add a submenu of filters; add nothing if there are none.

    Args:
        menu: the menu to extend.
        filters: pairs of label and filter expression.
        apply: called with the chosen filter expression.
    """
    entries = list(filters)
    if not entries:
        return
    chosen = menu.addMenu(theme.icon("filter", "dim"), "Show only")
    chosen.setToolTipsVisible(True)
    for words, text in entries:
        action = chosen.addAction(words.replace("&", "&&"))
        action.setData(text)
        action.setToolTip(plain_tooltip(text))
        action.triggered.connect(partial(_apply, apply, text))


def _apply(apply: Callable[[str], object], text: str, _checked: bool = False) -> None:
    apply(text)
