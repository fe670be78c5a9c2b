"""The tokens that a model call uses, and prices that the user gives. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

MILLION = 1_000_000
_COUNTS = (
    "prompt_token_count",
    "cached_content_token_count",
    "candidates_token_count",
    "thoughts_token_count",
    "tool_use_prompt_token_count",
    "total_token_count",
)
_DETAILS = ("prompt_tokens_details", "cache_tokens_details", "candidates_tokens_details")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that a provider charges for.

    Attributes:
        input: tokens of the request, the cached ones included.
        cached: tokens of the request that were read from a cache.
        output: tokens of the answer, the thoughts included.
        thoughts: tokens of the thoughts.
        audio, cached_audio, output_audio: those of `input`, `cached` and `output` that are sound, which many models charge apart.
    """

    input: int = 0
    cached: int = 0
    output: int = 0
    thoughts: int = 0
    audio: int = 0
    cached_audio: int = 0
    output_audio: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
            self.thoughts + other.thoughts,
            self.audio + other.audio,
            self.cached_audio + other.cached_audio,
            self.output_audio + other.output_audio,
        )


def tokens_of(usage: Any) -> Tokens | None:
    """Return the tokens that an event reports, or None if it reports none.

    Gemini counts thoughts beside the answer, other providers count them in it. The total tells which.

    Args:
        usage: the event's `usage_metadata`, an object or a mapping with google-genai's field names.
    """
    if usage is None:
        return None
    get = usage.get if isinstance(usage, Mapping) else partial(getattr, usage)
    values = [get(name, None) for name in _COUNTS]
    prompt, cached, candidates, thoughts, tools, total = [_count(value) for value in values]
    is_counted = thoughts and total and total <= prompt + tools + candidates
    output = candidates if is_counted else candidates + thoughts
    if not (prompt or tools or output) and total:
        prompt = total
    cached = min(cached, prompt)
    audio, cached_audio, output_audio = (
        min(_of_modality(get(name, None), "AUDIO"), most) for name, most in zip(_DETAILS, (prompt, cached, output), strict=True)
    )
    found = Tokens(prompt + tools, cached, output, min(thoughts, output), audio, min(cached_audio, audio), output_audio)
    return found if found.input or found.output else None


def file_tokens(usage: Any) -> int:
    """Return the tokens of a request that are no text: pictures, sound, video and documents, as far as the provider tells.

    Args:
        usage: see `tokens_of`.
    """
    details = usage.get(_DETAILS[0]) if isinstance(usage, Mapping) else getattr(usage, _DETAILS[0], None)
    return sum(_of_modality(details, name) for name in ("AUDIO", "IMAGE", "VIDEO", "DOCUMENT"))


def _of_modality(details: Any, wanted: str) -> int:
    """Return the tokens of one modality in a usage's counts, such as `AUDIO`."""
    found = 0
    for each in details if isinstance(details, list) else ():
        get = each.get if isinstance(each, Mapping) else partial(getattr, each)
        found += _count(get("token_count", None)) if get("modality", None) == wanted else 0
    return found


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


@dataclass(frozen=True, slots=True)
class OwnPrice:
    """A price that the user gave, in US dollars for a million tokens.

    Attributes:
        input, cached, output: the prices.
    """

    input: Decimal
    output: Decimal
    cached: Decimal

    def cost(self, tokens: Tokens) -> Decimal:
        """Return the price of a call in US dollars."""
        fresh = tokens.input - tokens.cached
        return (fresh * self.input + tokens.cached * self.cached + tokens.output * self.output) / MILLION


def own_prices(values: Mapping[str, Any]) -> dict[str, OwnPrice]:
    """Return the prices of the preferences file; entries that are no prices are left out.

    Args:
        values: model → `{"input": …, "output": …, "cached": …}` in US dollars for a million tokens; without `cached`, cached tokens cost as
            much as others.
    """
    found: dict[str, OwnPrice] = {}
    for model, price in values.items():
        if isinstance(price, Mapping):
            given, output = price.get("input"), price.get("output")
            made = own_price(given, output, price.get("cached", given))
            if made is not None:
                found[model] = made
    return found


def own_price(given: object, output: object, cached: object) -> OwnPrice | None:
    """Return a price, or None if a number is missing, negative or not a number."""
    try:
        numbers = [Decimal(str(value)) for value in (given, output, cached)]
    except ArithmeticError:
        return None
    return OwnPrice(*numbers) if all(number.is_finite() and number >= 0 for number in numbers) else None
