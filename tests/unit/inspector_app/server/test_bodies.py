"""Bodies that cost too much, or that no database could store."""

from __future__ import annotations

import time

import pytest

from inspector_app.server import bodies
from inspector_app.server.bodies import BadBodyError, _parsed
from inspector_app.server.request_models import RunBody

RUN = {"app_name": "a", "user_id": "u", "session_id": "s"}


def refused(data: bytes) -> tuple[int, str]:
    with pytest.raises(BadBodyError) as caught:
        _parsed(data)
    return caught.value.status, str(caught.value.problems)


@pytest.mark.rule("I7")
@pytest.mark.parametrize(
    "many", [b"[" + b"[]," * 10_000_000 + b"[]]", b"[" * 30_000_000, b'{"a":' * 6_000_000, b'["' + b'","' * 10_000_000 + b'"]']
)
def test_a_body_of_many_values_is_refused_without_parsing_it(many: bytes) -> None:
    began = time.process_time()
    status, problems = refused(many)
    assert (status, "more than 200,000 values" in problems) == (413, True)
    assert time.process_time() - began < 2, "parsing takes 10 s and more"


def test_a_long_text_full_of_commas_is_one_value() -> None:
    text = ',[{\\"' * 1_000_000
    assert _parsed(f'{{"text": "{text}"}}'.encode())["text"] == ',[{"' * 1_000_000


@pytest.mark.rule("I7")
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b'{"\\udfff": 1}', "half of a surrogate pair"),
        (b'{"a": "\xff"}', "utf-8"),
        (b"\xef\xbb\xbf{}", "JSON decode error"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": ' + b"1" * 5000 + b"}", "4300"),
        (b"[" * 101 + b"]" * 101, "more than 100 brackets"),
        (b"[" * 100_000 + b"]" * 100_000, "JSON decode error"),
        (b'{"a":1,' + b" " * 5_000_000 + b"x", "JSON decode error"),
    ],
)
def test_a_body_that_cannot_be_stored_is_a_422(data: bytes, says: str) -> None:
    status, problems = refused(data)
    assert status == 422
    assert says in problems
    assert len(problems) < 2_000


def test_a_whole_surrogate_pair_is_text() -> None:
    assert _parsed(b'{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}


def test_a_value_of_the_allowed_depth_is_read() -> None:
    assert _parsed(b"[" * 99 + b"]" * 99)


@pytest.mark.parametrize("message", [{"parts": []}, {"role": "user"}, {"parts": None}, {}])
def test_a_message_without_parts_is_refused(message: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="has no parts"):
        RunBody.model_validate({**RUN, "new_message": message})


def test_a_message_of_too_many_parts_is_refused_before_they_are_validated() -> None:
    with pytest.raises(ValueError, match="more than 1,000 parts"):
        RunBody.model_validate({**RUN, "newMessage": {"parts": [{"text": "x"}] * (bodies.MAX_PARTS + 1)}})


def test_unknown_keys_are_ignored() -> None:
    assert RunBody.model_validate({**RUN, "functionCallEventId": "x", "whatIsThis": 1}).session_id == "s"
