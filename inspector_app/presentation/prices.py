"""What model calls cost, from the bundled price list of `genai-prices` and the user's own prices. No Qt, no network.

`genai-prices` can fetch newer prices. That is never done here: the application opens no connection that the user did not ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from importlib import import_module
from typing import Any

from inspector_app.presentation.tokens import OwnPrice, Tokens
from runtime.support.context_window import Name, listed_names

MOST_COSTS = 20_000  # kept in memory, 300 bytes each: a look-up takes 0.2 ms, and many calls use the same tokens


class Prices:
    """The prices of models.

    Args:
        own: prices by the model's name, used before the bundled ones.
    """

    def __init__(self, own: Mapping[str, OwnPrice] | None = None) -> None:
        self._own = dict(own or {})
        self._known: dict[str, Name | None] = {}
        self._costs: dict[tuple[str, Tokens, float], Decimal | None] = {}

    def set_own(self, own: Mapping[str, OwnPrice]) -> None:
        """Replace the own prices."""
        self._own = dict(own)

    def cost(self, model: str | None, tokens: Tokens, timestamp: float) -> Decimal | None:
        """Return the price of one call in US dollars, or None if it is unknown.

        Args:
            model: the model's name, perhaps with a provider before it (`openai/gpt-4o`, `models/gemini-2.5-flash`).
            tokens: what was used.
            timestamp: epoch seconds; prices change.
        """
        if not model:
            return None
        own = self._own.get(model)
        if own is not None:
            return own.cost(tokens)
        place = (model, tokens, timestamp // 3600)  # some prices depend on the hour
        if place not in self._costs:
            if len(self._costs) >= MOST_COSTS:
                self._costs.clear()
            self._costs[place] = self._bundled_cost(model, tokens, timestamp)
        return self._costs[place]

    def _bundled_cost(self, model: str, tokens: Tokens, timestamp: float) -> Decimal | None:
        prices = _bundled()
        usage = prices.Usage(
            input_tokens=tokens.input,
            cache_read_tokens=tokens.cached or None,
            output_tokens=tokens.output,
            input_audio_tokens=tokens.audio or None,
            cache_audio_read_tokens=tokens.cached_audio or None,
            output_audio_tokens=tokens.output_audio or None,
        )
        names = [self._known[model]] if model in self._known else listed_names(model)
        for name in names:
            if name is None:
                break
            try:
                found = prices.calc_price(usage, name[0], provider_id=name[1], genai_request_timestamp=_utc(timestamp))
            except (LookupError, ValueError):  # an unknown model; a provider that has no price for what was used
                continue
            self._known[model] = name
            return Decimal(found.total_price)
        self._known.setdefault(model, None)
        return None

    @staticmethod
    @cache
    def source() -> str:
        """Return the name and version of the bundled price list, and since when its newest price applies.

        The list has no date of its own; prices that it announces for the future are not counted.
        """
        version, newest = import_module("importlib.metadata").version("genai-prices"), newest_price_date(datetime.now(UTC).date())
        return f"genai-prices {version}, newest price of {newest.isoformat()}"


def newest_price_date(today: date) -> date:
    """Return the day since which the newest bundled price applies that applies on a given day."""
    snapshot = import_module("genai_prices.data_snapshot").get_snapshot()
    conditions = (
        getattr(price.constraint, "start_date", None)
        for provider in snapshot.providers
        for model in provider.models
        if isinstance(model.prices, list)
        for price in model.prices
    )
    return max((day for day in conditions if isinstance(day, date) and day <= today), default=date.min)


@cache
def _bundled() -> Any:
    # Loaded with the first price: it takes half a second, and most windows and commands show none.
    return import_module("genai_prices")


def _utc(timestamp: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(timestamp, UTC)
    except (OverflowError, ValueError, OSError):
        return None
