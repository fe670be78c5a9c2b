"""Remembered states, and the states folded from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from runtime.history import state_checkpoints
from runtime.history.state_at import History
from tests.unit.history.events import event


def test_remembered_states_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_checkpoints, "_MOST_REMEMBERED", 50)
    history = History([event(**{f"k{number % 7}": number}) for number in range(5_000)], baseline={})
    assert history.state_at(4_999).session == {f"k{number % 7}": number for number in range(4_993, 5_000)}
    assert history.state_at(300).session == {f"k{number % 7}": number for number in range(294, 301)}
    assert len(history._checkpoints._remembered) * 7 <= 57


def test_any_state_of_a_long_session_is_folded_from_a_nearby_one(monkeypatch: pytest.MonkeyPatch) -> None:
    history = History([event(**{f"k{number % 50}": number}) for number in range(20_000)], baseline={})
    history.state_at(19_999)
    folded: list[int] = []
    apply = state_checkpoints.StateAccumulator.apply

    def counting(
        self: state_checkpoints.StateAccumulator, delta: Mapping[str, Any], writer: int | None, merge_patched_keys: frozenset[str]
    ) -> None:
        folded.append(writer or 0)
        apply(self, delta, writer, merge_patched_keys)

    monkeypatch.setattr(state_checkpoints.StateAccumulator, "apply", counting)
    for index in range(0, 20_000, 1999):
        history.state_at(index)
        assert len(folded) <= state_checkpoints._STRIDE
        folded.clear()
