"""Every layout that is read. A new one is a module with its `EventFormat`, and a line here."""

from __future__ import annotations

from runtime.storage.layouts.decode_v0 import V0
from runtime.storage.layouts.event_format import EventFormat
from runtime.storage.layouts.json_formats import SQLITE, V1

FORMATS: tuple[EventFormat, ...] = (SQLITE, V1, V0)  # the first that matches wins
