"""Every layout that is read. A new one is a module with its `EventFormat`, and a line here."""

from __future__ import annotations

from runtime.storage.layouts.decode_v0 import V0
from runtime.storage.layouts.event_format import EventFormat
from runtime.storage.layouts.json_formats import SQLITE, TYPESCRIPT, V1
from runtime.storage.layouts.other_adks import ADK_TS, GO

FORMATS: tuple[EventFormat, ...] = (SQLITE, TYPESCRIPT, V1, ADK_TS, GO, V0)  # the first that matches wins
