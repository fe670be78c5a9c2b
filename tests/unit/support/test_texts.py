"""Texts of objects whose own code fails."""

from __future__ import annotations

import pytest

from runtime.support.texts import MAX_TEXT, TerminatedError, error_text, repr_of, text_of, type_name
from tests.interop.engines.agents.zoo.values import MAKERS, exception_with


@pytest.mark.parametrize("name", MAKERS)
def test_every_object_has_a_text(name: str) -> None:
    value = MAKERS[name]()
    for text in (text_of(value), repr_of(value), type_name(value), error_text(exception_with(value))):
        assert type(text) is str
        assert len(text) <= MAX_TEXT + 100


def test_a_text_is_that_of_str() -> None:
    assert (text_of(5), repr_of("x"), error_text(KeyError("k")), error_text(ValueError())) == ("5", "'x'", "KeyError: 'k'", "ValueError")


def test_a_failing_text_names_the_object_and_the_failure() -> None:
    assert text_of(MAKERS["exit"]()) == "<Raising: its str failed: SystemExit>"


def test_the_end_of_the_process_is_not_kept_from_it() -> None:
    class Waits:
        def __str__(self) -> str:
            raise TerminatedError

    with pytest.raises(TerminatedError):
        text_of(Waits())
