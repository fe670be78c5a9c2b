"""What the window remembers from one start to the next."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

from inspector_app.support.preferences import Preferences


class Settings(Preferences):
    """The preferences and the window's layout, which QSettings keeps.

    Args:
        folder: of both files; the user's own if None.
    """

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder / "preferences.json" if folder else None)
        name = "agent-inspector"
        self._store = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat) if folder else QSettings(name, name)

    def layout(self, name: str) -> QByteArray | None:
        """Return a saved geometry or arrangement of docks."""
        value = self._store.value(f"layout/{name}")
        return value if isinstance(value, QByteArray) else None

    def save_layout(self, name: str, layout: QByteArray) -> None:
        """Remember a geometry or arrangement of docks."""
        self._store.setValue(f"layout/{name}", layout)
