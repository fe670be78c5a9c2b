from __future__ import annotations

from typing import Any

import pytest

from inspector_app.running.pending_form import parse_answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", None),
        ("  \n", None),
        ('{"status": "approved"}', {"status": "approved"}),
        ("{}", {}),
        ("yes, do it", {"result": "yes, do it"}),
        ("42", {"result": 42}),
        ("[1, 2]", {"result": [1, 2]}),
        ("[see the list", {"result": "[see the list"}),
        ("NaN", {"result": "NaN"}),
        ("[" * 100_000, {"result": "[" * 100_000}),
    ],
)
def test_json_objects_are_sent_as_they_are_and_the_rest_as_a_result(text: str, answer: dict[str, Any] | None) -> None:
    assert parse_answer(text) == answer


def test_a_broken_json_object_is_not_sent_as_text() -> None:
    with pytest.raises(ValueError, match="Line 1, column 11: a JSON value is expected here"):
        parse_answer('{"broken": ')
