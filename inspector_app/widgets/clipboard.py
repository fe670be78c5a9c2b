"""Text for the clipboard, and the menu entries that copy it."""

from __future__ import annotations

import json
from functools import partial
from pprint import pformat
from typing import Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from inspector_app.widgets import theme

_WIDTH = 120
_LAID_OUT = 100_000  # characters of JSON; longer values are copied as one line, because `pformat` is slow


def as_json(value: Any) -> str:
    """Return a value as indented JSON. Objects that JSON cannot represent appear as their type's name."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=lambda other: f"({type(other).__qualname__} object)")


def as_python(text: str) -> str:
    """Return JSON text as a Python literal, for example for a test or a prompt."""
    value = json.loads(text)
    return pformat(value, width=_WIDTH, sort_dicts=False) if len(text) < _LAID_OUT else repr(value)


def copy_text(text: str) -> None:
    """Put plain text on the clipboard. Lone surrogates, which no clipboard accepts, become question marks."""
    QGuiApplication.clipboard().setText(text.encode("utf-8", "replace").decode("utf-8"))


def add_copy_action(menu: QMenu, label: str, text: str) -> None:
    """Add a menu entry that copies `text`."""
    action = menu.addAction(theme.icon("copy", "dim"), label)
    action.triggered.connect(partial(_copy, text))


def _copy(text: str, _checked: bool = False) -> None:
    copy_text(text)
