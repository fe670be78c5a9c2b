"""Validation of structured answers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from runtime.tools.output_schema import OutputSchemaError, shaped


class Plan(BaseModel):
    title: str
    steps: int


GOOD = '{"title": "a", "steps": 1}'


@pytest.mark.rule("R13")
@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"  ```json\n{GOOD}\n```\n",
        f"```JSON {GOOD}```",
        f"```{GOOD}```",
        f"```json5  \n\n{GOOD}\n\n```",
        f"```json\r\n{GOOD}\r\n```",
    ],
)
def test_a_fence_round_the_whole_answer_is_removed(text: str) -> None:
    for schema in (Plan, None, {"type": "object"}, dict[str, object]):
        assert shaped(schema, text) == {"title": "a", "steps": 1}


@pytest.mark.parametrize(
    "text",
    [
        f"Here:\n```json\n{GOOD}\n```",
        f"```json\n{GOOD}\n``` as you wished",
        f"```json\n{GOOD}",
        f"~~~\n{GOOD}\n~~~",
        f"``{GOOD}``",
        "``````",
        "`````",
        "",
        '```json\n{"title": "a"}\n```',
    ],
)
def test_other_text_is_no_answer(text: str) -> None:
    with pytest.raises(OutputSchemaError):
        shaped(Plan, text)


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_is_never_taken_for_a_fence(value: object) -> None:
    text = json.dumps(value)
    assert shaped(None, text) == value
    assert shaped(None, f"```json\n{text}\n```") == value


def test_an_unclosed_fence_of_spaces_takes_no_time() -> None:
    with pytest.raises(OutputSchemaError):
        shaped(None, "```" + " \n" * 500_000)
