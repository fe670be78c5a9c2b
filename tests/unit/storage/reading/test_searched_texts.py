"""The texts of an event that the search index holds."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.storage.reading.searched_texts import DEEPEST, searched_texts


@pytest.mark.parametrize(
    ("event", "texts"),
    [
        ({"content": {"role": "model", "parts": [{"text": "x"}]}, "author": "a", "id": "e1"}, ["a", "model", "x"]),
        ({"content": {"parts": [{"function_call": {"name": "f", "args": {"city": "Rome", "n": 0}}}]}}, ["f", "city", "Rome", "n", "0"]),
        (
            {"actions": {"state_delta": {"n": 2.5, "is_open": True, "rest": None, "list": [{}, "", 7]}}},
            ["n", "2.5", "is_open", "rest", "list", "7"],
        ),
        ({"errorMessage": "broken", "custom_metadata": {"parts": "y"}, "usage_metadata": {"total": 3}}, ["broken", "y"]),
        ({"content": None, "actions": "odd"}, ["odd"]),
    ],
)
def test_texts_names_and_numbers_are_found_in_order(event: dict[str, Any], texts: list[str]) -> None:
    assert [text for text in searched_texts(event) if text] == texts


def test_what_is_nested_too_deeply_is_left_out() -> None:
    value: Any = "lost"
    for _ in range(2 * DEEPEST):
        value = [value]
    assert searched_texts({"author": "a", "output": value}) == ["a"]


@pytest.mark.parametrize(
    "name", ["input_transcription", "output_transcription", "grounding_metadata", "citation_metadata", "custom_metadata"]
)
def test_what_an_event_holds_beside_its_parts_is_found_in_both_spellings(name: str) -> None:
    words = name.split("_")
    for spelled in (name, words[0] + words[1].title()):
        assert searched_texts({"author": "desk", spelled: {"said": "noon"}}) == ["desk", "said", "noon"]
