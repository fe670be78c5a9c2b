"""What the window remembers from one start to the next."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

from PySide6.QtCore import QByteArray, QSettings

MAX_RECENT = 10


class Settings:
    """Layout, theme, recent items and trusted folders, kept by QSettings.

    Args:
        store: where they are kept; the user's own settings if None.
    """

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store or QSettings("agent-inspector", "agent-inspector")

    @property
    def recent(self) -> list[str]:
        """What was opened last, newest first: paths and database URLs."""
        return self._list("recent")

    def add_recent(self, item: str) -> None:
        """Put an item first among the recent ones."""
        self._store.setValue("recent", [item, *(old for old in self.recent if old != item)][:MAX_RECENT])

    def remove_recent(self, item: str) -> None:
        """Forget a recent item (it is gone, or it was no good)."""
        self._store.setValue("recent", [old for old in self.recent if old != item])

    @property
    def filters(self) -> list[str]:
        """Filters of the event stream that found something, the latest first."""
        return self._list("filters")

    @filters.setter
    def filters(self, filters: list[str]) -> None:
        self._store.setValue("filters", filters)

    def pinned(self, app_name: str) -> list[str]:
        """Return the keys of the state that are shown first in an app's sessions."""
        return self._list(_pinned_key(app_name))

    def keep_pinned(self, app_name: str, keys: list[str]) -> None:
        """Remember an app's pinned keys."""
        self._store.setValue(_pinned_key(app_name), keys)

    def saved_filters(self, app_name: str) -> dict[str, str]:
        """Return the filters that somebody gave a name, name → filter, in the order they were first saved."""
        try:
            kept = json.loads(str(self._store.value(_filters_key(app_name), "{}")))
        except json.JSONDecodeError:
            return {}
        return {str(name): str(text) for name, text in kept.items()} if isinstance(kept, dict) else {}

    def keep_saved_filters(self, app_name: str, filters: dict[str, str]) -> None:
        """Remember an app's named filters."""
        self._store.setValue(_filters_key(app_name), json.dumps(filters))

    def trusts(self, folder: Path) -> bool:
        """Return whether agents of this very folder may be loaded; loading one runs its code."""
        return str(folder.resolve()) in self._list("trusted")

    def trust(self, folder: Path) -> None:
        """Remember that agents of this folder may be loaded."""
        self._store.setValue("trusted", sorted({*self._list("trusted"), str(folder.resolve())}))

    def breakpoints(self, folder: Path) -> str:
        """Return the breakpoints kept for the agent in a folder, as JSON; empty if there are none."""
        return str(self._store.value(_breakpoints_key(folder), ""))

    def keep_breakpoints(self, folder: Path, text: str) -> None:
        """Remember an agent's breakpoints."""
        self._store.setValue(_breakpoints_key(folder), text)

    @property
    def theme(self) -> str:
        """`light`, `dark` or `system`."""
        return str(self._store.value("theme", "system"))

    @theme.setter
    def theme(self, theme: str) -> None:
        self._store.setValue("theme", theme)

    def layout(self, name: str) -> QByteArray | None:
        """Return a saved geometry or arrangement of docks."""
        value = self._store.value(f"layout/{name}")
        return value if isinstance(value, QByteArray) else None

    def save_layout(self, name: str, layout: QByteArray) -> None:
        """Remember a geometry or arrangement of docks."""
        self._store.setValue(f"layout/{name}", layout)

    def forget_layouts(self) -> None:
        """Go back to the layout of a first start."""
        self._store.remove("layout")

    def _list(self, name: str) -> list[str]:
        value = self._store.value(name, [])
        if isinstance(value, str):  # an INI file gives back a list of one as its only item
            return [value]
        return [str(item) for item in value] if isinstance(value, list) else []


def _pinned_key(app_name: str) -> str:
    return f"pinned/{quote(app_name, safe='')}"


def _filters_key(app_name: str) -> str:
    return f"saved_filters/{quote(app_name, safe='')}"


def _breakpoints_key(folder: Path) -> str:
    return f"breakpoints/{quote(str(folder.resolve()), safe='')}"
