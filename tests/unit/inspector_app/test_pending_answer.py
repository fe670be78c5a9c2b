from __future__ import annotations

from typing import Any

import pytest

from inspector_app.views.pending_form import parse_answer


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
        ('{"broken": ', {"result": '{"broken":'}),
        ("NaN", {"result": "NaN"}),
        ("[" * 100_000, {"result": "[" * 100_000}),
    ],
)
def test_json_objects_are_sent_as_they_are_and_the_rest_as_a_result(text: str, answer: dict[str, Any] | None) -> None:
    assert parse_answer(text) == answer
