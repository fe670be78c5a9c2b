"""Tokens and costs of model calls: bundled prices computed a second way, own prices, and unknown ones."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from genai_prices import data_snapshot
from google.genai import types

from inspector_app.presentation.costs import CostSum, cost_json, cost_text, dollars, model_calls, sums_of_runs
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import OwnPrice, Tokens, own_prices, tokens_of
from runtime.events.event import Event
from runtime.sessions.recorded_facts import RecordedFacts
from runtime.sessions.session_key import SessionKey

KEY = SessionKey("app", "u", "s")
AT = 1_785_000_000.0  # July 2026


def answer(model: str | None, tools: tuple[str, ...] = (), **usage: int) -> Event:
    parts = [types.Part(function_call=types.FunctionCall(name=name, args={})) for name in tools] or [types.Part(text="done")]
    event = Event(author="seer", invocation_id="i", content=types.Content(role="model", parts=parts), timestamp=AT)
    event.model_version = model
    event.usage_metadata = types.GenerateContentResponseUsageMetadata(**{f"{name}_token_count": count for name, count in usage.items()})
    return event


def listed(provider: str, model: str) -> Any:
    """Return a model's prices for a million tokens, read from the table itself."""
    (found,) = [each for each in data_snapshot.get_snapshot().providers if each.id == provider]
    (entry,) = [each for each in found.models if each.id == model]
    return entry.prices if not isinstance(entry.prices, list) else entry.get_prices(None)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt": 100, "candidates": 20, "total": 120}, Tokens(100, 0, 20, 0)),
        # Gemini: thoughts are counted beside the answer.
        ({"prompt": 100, "candidates": 20, "thoughts": 30, "total": 150}, Tokens(100, 0, 50, 30)),
        # Others: thoughts are counted in the answer.
        ({"prompt": 100, "candidates": 50, "thoughts": 30, "total": 150}, Tokens(100, 0, 50, 30)),
        ({"prompt": 100, "candidates": 20, "cached_content": 60, "total": 120}, Tokens(100, 60, 20, 0)),
        ({"prompt": 100, "candidates": 20, "tool_use_prompt": 40, "total": 160}, Tokens(140, 0, 20, 0)),
        ({"total": 90}, Tokens(90, 0, 0, 0)),
        ({}, None),
    ],
)
def test_tokens_are_counted_as_they_are_charged(usage: dict[str, int], tokens: Tokens | None) -> None:
    event = answer("m", **usage)
    assert tokens_of(event.usage_metadata) == tokens
    assert tokens_of({f"{name}_token_count": count for name, count in usage.items()}) == tokens


@pytest.mark.parametrize(
    ("named", "provider", "model"),
    [
        ("gemini-2.5-flash", "google", "gemini-2.5-flash"),
        ("models/gemini-2.5-flash-lite", "google", "gemini-2.5-flash-lite"),
        ("openai/gpt-4o-mini", "openai", "gpt-4o-mini"),
        ("claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5"),
        ("vertex_ai/gemini-2.0-flash", "google", "gemini-2.0-flash"),
    ],
)
def test_the_cost_of_a_session_is_what_the_price_table_says(named: str, provider: str, model: str) -> None:
    events = [answer(named, prompt=900 + 10 * turn, cached_content=300, candidates=40 + turn, total=940 + 11 * turn) for turn in range(7)]
    prices = listed(provider, model)
    expected = sum(
        ((600 + 10 * turn) * _flat(prices.input_mtok) + 300 * _flat(prices.cache_read_mtok) + (40 + turn) * _flat(prices.output_mtok))
        / 1_000_000
        for turn in range(7)
    )
    found = CostSum()
    for call in model_calls(KEY, events, Prices()):
        found.add(call)
    assert (found.calls, found.unpriced) == (7, 0)
    assert found.cost == expected


def _flat(price: Any) -> Decimal:
    return price if isinstance(price, Decimal) else price.base


def test_an_unknown_price_is_never_zero() -> None:
    events = [
        answer("my-own-model", prompt=10, candidates=1),
        answer(None, prompt=10, candidates=1),
        answer("gemini-2.5-flash", prompt=1000),
    ]
    found = CostSum()
    for call in model_calls(KEY, events[:2], Prices()):
        assert call.cost is None
        found.add(call)
    assert (found.unpriced, cost_text(found), cost_json(found)["cost_usd"]) == (2, "unknown", None)
    for call in model_calls(KEY, events[2:], Prices()):
        found.add(call)
    assert cost_text(found) == f"{dollars(found.cost)} + unknown"
    assert cost_json(found)["cost_usd"] == float(found.cost) > 0


def test_own_prices_are_used_first() -> None:
    prices = Prices(own_prices({"gemini-2.5-flash": {"input": 1, "output": 2.5}, "mine": {"input": "0.3", "output": 3, "cached": 0}}))
    assert prices.cost("gemini-2.5-flash", Tokens(1_000_000, 500_000, 1_000_000), AT) == Decimal("3.5")
    assert prices.cost("mine", Tokens(1_000_000, 500_000, 100_000), AT) == Decimal("0.45")
    wrong = {
        "a": {"input": 1},
        "b": 7,
        "c": {"input": "x", "output": 1},
        "d": {"input": -1, "output": 1},
        "e": {"input": "nan", "output": 1},
    }
    assert own_prices(wrong) == {}


def test_a_recording_names_the_models_of_events() -> None:
    events = [answer(None, prompt=10, candidates=1), answer(None, prompt=10, candidates=1), answer("other", prompt=10, candidates=1)]
    prices = Prices({"recorded": OwnPrice(Decimal(1), Decimal(1), Decimal(1))})
    calls = list(model_calls(KEY, events, prices, RecordedFacts({events[0].id: "recorded", events[2].id: "recorded"}), "default"))
    assert [call.model for call in calls] == ["recorded", "default", "other"]
    assert [call.cost is None for call in calls] == [False, True, True]


def test_events_without_tokens_are_no_model_calls() -> None:
    partial = answer("m", prompt=5)
    partial.partial = True
    assert list(model_calls(KEY, [partial, Event(author="user")], Prices())) == []


def test_each_called_tool_is_named_once() -> None:
    (call,) = model_calls(KEY, [answer("m", ("look", "go", "look"), prompt=5)], Prices())
    assert call.tools == ("look", "go")


def test_the_sums_of_runs_are_those_of_their_model_calls() -> None:
    asked, again = Event(author="user"), Event(author="user")
    partial = answer("m", prompt=5)
    partial.partial = True
    events = [
        asked,
        answer("mine", prompt=9, candidates=2),
        partial,
        answer(None, prompt=4),
        again,
        answer("mine", prompt=1),
        answer("m", prompt=2),
    ]
    for event, invocation_id in zip(events, "aaabccc", strict=True):
        event.invocation_id = invocation_id
    prices, models = Prices({"mine": OwnPrice(Decimal(1), Decimal(2), Decimal(1))}), {events[3].id: "mine"}
    expected = []
    for first, end in ((0, 3), (3, 4), (4, 7)):
        run = CostSum()
        for call in model_calls(KEY, events[first:end], prices, RecordedFacts(models)):
            run.add(call)
        expected.append((first, run))
    assert sums_of_runs(events, prices, RecordedFacts(models)) == expected
    assert sums_of_runs([asked, partial], prices, RecordedFacts(models)) == []
    total = CostSum()
    for _, run in expected:
        total.add_sum(run)
    assert (total.calls, total.unpriced, total.tokens.input, total.cost) == (4, 1, 16, Decimal("0.000018"))


@pytest.mark.parametrize(
    ("cost", "text"),
    [("0", "$0"), ("0.0000021", "$0.0000021"), ("0.00426", "$0.0043"), ("0.126", "$0.13"), ("0.999", "$1.00"), ("1234.5", "$1,234.50")],
)
def test_amounts_are_rounded_for_people(cost: str, text: str) -> None:
    assert dollars(Decimal(cost)) == text


@pytest.mark.parametrize("is_json", [False, True])
def test_sound_is_charged_as_sound(is_json: bool) -> None:
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=1_000,
        cached_content_token_count=500,
        candidates_token_count=100,
        total_token_count=1_100,
        prompt_tokens_details=[{"modality": "TEXT", "token_count": 200}, {"modality": "AUDIO", "token_count": 800}],
        cache_tokens_details=[{"modality": "AUDIO", "token_count": 400}, {"modality": "TEXT", "token_count": 100}],
    )
    tokens = tokens_of(usage.model_dump(mode="json") if is_json else usage)
    assert tokens == Tokens(1_000, 500, 100, 0, 800, 400)
    price = listed("google", "gemini-2.5-flash")
    expected = (
        (800 - 400) * price.input_audio_mtok
        + 400 * price.cache_audio_read_mtok
        + (200 - 100) * price.input_mtok
        + 100 * price.cache_read_mtok
        + 100 * price.output_mtok
    ) / 1_000_000
    assert Prices().cost("gemini-2.5-flash", tokens, AT) == expected


@pytest.mark.parametrize("details", [None, [], [None], [{"modality": "AUDIO"}], [{"modality": "AUDIO", "token_count": -5}], {"AUDIO": 3}])
def test_counts_of_sound_that_are_none_cost_nothing_more(details: Any) -> None:
    plain = {"prompt_token_count": 10, "candidates_token_count": 2, "total_token_count": 12}
    assert tokens_of({**plain, "prompt_tokens_details": details}) == tokens_of(plain)


def test_there_is_no_more_sound_than_tokens() -> None:
    given = {"prompt_token_count": 10, "prompt_tokens_details": [{"modality": "AUDIO", "token_count": 99}]}
    assert tokens_of(given) == Tokens(10, 0, 0, 0, 10)
