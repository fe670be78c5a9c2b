"""The prices and models by which commands price model calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from inspector_app.commands import stdout
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import OwnPrice, own_prices
from inspector_app.support.preferences import Preferences
from runtime.errors import StorageError
from runtime.sessions.recorded_facts import RecordedFacts
from runtime.storage.recordings.recording import facts_beside, recording_beside


def known_prices(given: Mapping[str, OwnPrice] | None = None) -> Prices:
    """Return the prices, with those of the user's settings and of a command line."""
    return Prices({**own_prices(Preferences().prices), **(given or {})})


def recorded_facts(target: str) -> RecordedFacts:
    """Return what the recording beside a database knows of its events; nothing if there is none that can be read."""
    if "://" in target:
        return RecordedFacts()
    try:
        return facts_beside(recording_beside(Path(target)))
    except StorageError as error:
        stdout.complain(f"agent-inspector: {error}\n")
        return RecordedFacts()
