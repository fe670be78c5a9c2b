"""The texts of an event that the search index holds."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bench.generated import event_data
from runtime.storage.reading import searched_texts as module
from runtime.storage.reading.searched_texts import reader_of_texts, searched_texts

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -7, 2.5, 0.0, 10**30]),
    st.sampled_from(["", "two words", "parts", "role", 'a "role"', "é\n"]),
)
NAMES = st.sampled_from(["city", "name", "text", "parts", "role", "id", "args", ""])
VALUES = st.recursive(LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)), max_leaves=6)
DICTS = st.dictionaries(NAMES, VALUES, max_size=3)


def some_of(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects with some of the fields, in any order."""
    return st.lists(st.sampled_from(list(fields)), unique=True).flatmap(
        lambda names: st.tuples(*[fields[name] for name in names]).map(lambda values: dict(zip(names, values, strict=True)))
    )


TEXTS = st.one_of(st.sampled_from(["model", "find it", '{"parts": "role"}', ""]), st.none(), LEAVES)
CALLS = some_of({"id": TEXTS, "name": TEXTS, "args": DICTS, "response": DICTS, "will_continue": st.booleans()})
PARTS = some_of({"text": TEXTS, "function_call": CALLS, "function_response": CALLS, "thought": LEAVES, "thought_signature": TEXTS})
CONTENTS = some_of({"parts": st.lists(PARTS, max_size=2), "role": TEXTS})
ACTIONS = some_of(
    {
        "state_delta": DICTS,
        "artifact_delta": DICTS,
        "requested_auth_configs": DICTS,
        "requested_tool_confirmations": DICTS,
        "stateDelta": DICTS,
    }
)
EVENTS = some_of(
    {
        "author": TEXTS,
        "content": st.one_of(CONTENTS, VALUES),
        "actions": st.one_of(ACTIONS, VALUES),
        "error_message": TEXTS,
        "errorMessage": TEXTS,
        "custom_metadata": st.one_of(CONTENTS, VALUES),
    }
)
ROLE_FIRST = {"content": {"role": "model", "parts": [{"text": "x"}]}, "actions": {"state_delta": {"n": 1}}}
UNCLEAR = {"actions": {"state_delta": {"parts": "x"}}, "content": {"role": "model", "parts": [{"text": "y"}]}}


TWO_IN_A_PART = {"content": {"parts": [{"function_call": {"name": "f"}, "text": "x"}]}}
TWO_DELTAS = {"actions": {"artifact_delta": {"a.txt": 0}, "state_delta": {"n": 1}}}
HALF_A_PAIR = '{"content": {"parts": [{"text": "\\ud800"}]}}'  # of surrogates


@given(EVENTS, st.booleans())
@example(ROLE_FIRST, False)
@example(UNCLEAR, True)
@example(TWO_IN_A_PART, True)
@example(TWO_DELTAS, True)
def test_a_usual_event_has_the_texts_of_its_json_in_order(event: dict[str, Any], ascii_only: bool) -> None:
    found = reader_of_texts()(json.dumps(event, ensure_ascii=ascii_only))
    assert found is not None
    assert " ".join(found) == " ".join(searched_texts(json.loads(json.dumps(event), parse_float=str)))


@pytest.mark.parametrize("damaged", ['{"author": "a", }', "[]", "", HALF_A_PAIR, "[" * 5_000, None, b"{}"])
def test_what_is_no_event_is_left_to_others(damaged: Any) -> None:
    assert reader_of_texts()(damaged) is None


def test_most_events_are_read_by_their_usual_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_gathered", lambda values: pytest.fail("all values were decoded"))
    read = reader_of_texts()
    for number in range(20):
        event = event_data(number)
        assert read(json.dumps(event))
        event["content"] = dict(reversed(event["content"].items()))
        assert read(json.dumps(event))


def gathered(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for name, item in value.items() for text in ([] if name in module.STRUCTURE else [name]) + gathered(item)]
    if isinstance(value, list):
        return [text for item in value for text in gathered(item)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def test_every_name_text_and_number_is_indexed_in_order() -> None:
    chance = random.Random(4)
    leaves: list[Any] = [None, True, False, 0, 0.0, 1, -2.5, "", "x", "two words", [], {}]

    def some(depth: int) -> Any:
        kind = chance.random()
        if depth == 0 or kind < 0.4:
            return chance.choice(leaves)
        items = [some(depth - 1) for _ in range(chance.randint(0, 3))]
        return (
            items if kind < 0.6 else {chance.choice(["text", "city", "", "parts", f"k{number}"]): each for number, each in enumerate(items)}
        )

    for _ in range(500):
        value = some(4)
        found: list[str] = []
        module._gather(value, 0, found.append)
        assert " ".join(found).split() == " ".join(gathered(value)).split()
