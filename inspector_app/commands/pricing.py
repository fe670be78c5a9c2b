"""The prices and models by which commands price model calls."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from inspector_app.commands import stdout
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import OwnPrice, own_prices
from inspector_app.support.preferences import Preferences
from runtime.errors import StorageError
from runtime.storage.recordings.recording import Recording, recording_beside


def known_prices(given: Mapping[str, OwnPrice] | None = None) -> Prices:
    """Return the prices, with those of the user's settings and of a command line."""
    return Prices({**own_prices(Preferences().prices), **(given or {})})


def recorded_models(target: str) -> dict[str, str]:
    """Return event id → model of the recording beside a database; empty if there is none that can be read."""
    file = recording_beside(Path(target))
    if "://" in target or not file.is_file():
        return {}
    try:
        with closing(Recording(file)) as recording:
            return recording.models()
    except StorageError as error:
        stdout.complain(f"agent-inspector: {error}\n")
        return {}
