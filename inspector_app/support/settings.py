"""What the window remembers from one start to the next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from PySide6.QtCore import QByteArray, QSettings

from inspector_app.support.preferences import Preferences

_LISTS = ("recent", "filters", "trusted")
_TABLES = ("pinned", "saved_filters", "breakpoints")


class Settings(Preferences):
    """The preferences and the window's layout, which QSettings keeps.

    Earlier versions kept the preferences in QSettings too: they are moved to the preferences' file.

    Args:
        folder: of both files; the user's own if None.
    """

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder / "preferences.json" if folder else None)
        name = "agent-inspector"
        self._store = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat) if folder else QSettings(name, name)
        self._move_preferences()

    def layout(self, name: str) -> QByteArray | None:
        """Return a saved geometry or arrangement of docks."""
        value = self._store.value(f"layout/{name}")
        return value if isinstance(value, QByteArray) else None

    def save_layout(self, name: str, layout: QByteArray) -> None:
        """Remember a geometry or arrangement of docks."""
        self._store.setValue(f"layout/{name}", layout)

    def _move_preferences(self) -> None:
        keys = [key for key in self._store.allKeys() if key in ("theme", *_LISTS) or key.partition("/")[0] in _TABLES]
        if keys and self.merge(self._old_values(keys)):
            for key in keys:
                self._store.remove(key)

    def _old_values(self, keys: list[str]) -> dict[str, Any]:
        """Return the values stored in QSettings, in the layout of the preferences."""
        old: dict[str, Any] = {}
        for key in keys:
            table, _, quoted = key.partition("/")
            value = self._store.value(key)
            if table in _LISTS:
                old[table] = _strings(value)
            elif not quoted:
                old[table] = str(value)
            else:
                read = {"pinned": _strings, "saved_filters": _filters}.get(table, str)
                old.setdefault(table, {})[unquote(quoted)] = read(value)
        return old


def _strings(value: object) -> list[str]:
    if isinstance(value, str):  # an INI file returns a list of one as its only item
        return [value]
    return [str(item) for item in value] if isinstance(value, list) else []


def _filters(value: object) -> dict[str, str]:
    try:
        kept = json.loads(str(value))
    except json.JSONDecodeError:
        return {}
    return {str(name): str(text) for name, text in kept.items()} if isinstance(kept, dict) else {}
