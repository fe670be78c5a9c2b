"""Objects constructed without validation equal validated ones."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.sessions.session import Session, SessionKey
from runtime.support.unchecked import construct_unchecked, copy_unchecked

CALL = types.FunctionCall(id="adk-1", name="look_up", args={"item": "paper"})


@pytest.mark.parametrize(
    ("cls", "values"),
    [
        (types.Content, {"role": "user", "parts": [types.Part(text="hello")]}),
        (types.Part, {"function_call": CALL}),
        (types.FunctionResponse, {"id": "adk-1", "name": "look_up", "response": {"cents": 500}}),
        (types.Tool, {"function_declarations": [types.FunctionDeclaration(name="look_up")]}),
    ],
)
def test_an_unchecked_object_equals_a_validated_one(cls: Any, values: dict[str, Any]) -> None:
    made, checked = construct_unchecked(cls, **values), cls(**values)
    assert made == checked
    assert made.model_fields_set == checked.model_fields_set
    assert made.model_dump_json() == checked.model_dump_json()
    assert made.model_copy(deep=True) == checked


def test_changing_a_copy_does_not_change_the_original() -> None:
    copy = copy_unchecked(CALL, id=None)
    assert copy == CALL.model_copy(update={"id": None})
    assert copy.model_dump_json(exclude_unset=True) == CALL.model_copy(update={"id": None}).model_dump_json(exclude_unset=True)
    copy.name = "another"
    assert CALL.id == "adk-1"
    assert CALL.name == "look_up"


def test_private_attributes_can_be_read_and_set() -> None:
    session = Session.construct_unchecked(SessionKey("a", "u", "s"), {}, 0.0)
    assert session._revision is session.revision is None
    session._revision = 1
    assert session._revision == session.revision == session.model_copy().revision == 1
    assert Session(id="s", app_name="a", user_id="u").revision is None
