"""What each invocation of a session used."""

from __future__ import annotations

from decimal import Decimal

from inspector_app.presentation.costs import model_calls
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.spans import activity
from inspector_app.presentation.tokens import OwnPrice
from inspector_app.presentation.turns import Turn, turn_text, turns_of
from tests.recorded_desk import KEY, MODEL, desk


def turns(model: str = MODEL) -> list[Turn]:
    prices = Prices({model: OwnPrice(Decimal(1), Decimal(2), Decimal(0))})
    events = desk().events
    return turns_of(events, 100, model_calls(KEY, events, prices), activity(events, 100).calls)


def test_each_turn_sums_its_own_calls() -> None:
    first, second, third = turns()
    assert [(turn.first, turn.last) for turn in (first, second, third)] == [(100, 105), (106, 114), (115, 116)]
    assert (first.used.tokens.input, first.used.tokens.cached, first.used.tokens.output) == (3842, 2048, 202)
    assert first.used.cost == Decimal((3842 - 2048) + 2 * 202) / 1_000_000
    assert (second.failures, round(second.wait_seconds), round(second.model_seconds, 1)) == (1, 600, 5.3)
    assert first.cache_share == 2048 / 3842
    assert second.text == '"Send me 40 boxes of paper as well."'


def test_an_unknown_price_is_unknown_and_never_zero() -> None:
    events = desk().events
    for event in events:
        event.model_version = None
    (turn, *_) = turns_of(events, 0, model_calls(KEY, events, Prices(), default="nobody/knows-this"), ())
    assert "cost unknown" in turn_text(1, turn)


def test_a_turn_without_tokens_says_so() -> None:
    turn = Turn("i", 0, 0, 0.0)
    assert "no tokens reported" in turn_text(1, turn)
    assert turn.cache_share is None
