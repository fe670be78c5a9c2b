"""How many tokens a request to a model may have, from the bundled list of `genai-prices`. No network."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from importlib import import_module

Name = tuple[str, str | None]


def listed_names(model: str) -> list[Name]:
    """Return the names under which a model may be listed, each with its provider or None."""
    *before, name = model.split("/")
    found: list[Name] = [(model, None)]
    if before:
        found += [(name, before[0].replace("_", "-")), (name, before[0].split("_")[0]), (name, None)]
    return found


@lru_cache(maxsize=256)
def context_window(model: str | None) -> int | None:
    """Return how many tokens a model's requests may have, or None if the bundled list does not say."""
    if not model:
        return None
    try:
        snapshot = import_module("genai_prices.data_snapshot").get_snapshot()
    except ImportError:  # the runtime is used without the application
        return None
    for name, provider in listed_names(model):
        with suppress(LookupError, ValueError):
            _, found = snapshot.find_provider_model(name, None, provider, None)
            window: int | None = found.context_window
            return window
    return None
