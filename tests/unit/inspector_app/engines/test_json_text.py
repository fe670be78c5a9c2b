"""JSON of values whose own code fails, in the worker and in the plugin of running apps."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from inspector_app.engines.adk_worker import errors
from resources.plugins import inspector_plugin, recorder_plugin
from tests.interop.engines.agents.zoo.values import MAKERS, exception_with


@pytest.mark.parametrize("name", MAKERS)
def test_every_value_has_json(name: str) -> None:
    value = MAKERS[name]()
    for wrapped in (value, {"k": value}, [value, {"k": [value]}]):
        json.loads(inspector_plugin.to_json(wrapped))


@pytest.mark.parametrize("name", MAKERS)
def test_every_temp_value_can_be_recorded(name: str) -> None:
    json.dumps(recorder_plugin._plain({"temp:k": MAKERS[name]()}))


@pytest.mark.parametrize("name", MAKERS)
def test_every_exception_has_json(name: str) -> None:
    for raised in (exception_with(MAKERS[name]()), ExceptionGroup("several", [exception_with(MAKERS[name]())])):
        try:
            raise ValueError("outer") from raised
        except ValueError as error:
            caught: Any = error
        caught.__notes__ = [MAKERS[name]()]
        for fields in (errors.error_fields(caught, None), inspector_plugin.error_fields(caught)):
            assert fields["message"] == "outer"
            assert len(json.dumps(fields)) < 1_000_000
    assert recorder_plugin._error_text(exception_with(MAKERS[name]())).startswith("Failure: ")


def test_plain_values_are_written_as_they_are() -> None:
    value = {"a": [1, 2.5, None, True, "é"], "b": {"c": (1, 2)}}
    assert json.loads(inspector_plugin.to_json(value)) == {"a": [1, 2.5, None, True, "é"], "b": {"c": [1, 2]}}
    assert json.loads(inspector_plugin.to_json({"nan": float("nan"), 1: {2}, "object": range(3)})) == {
        "nan": None,
        "1": [2],
        "object": "range(0, 3)",
    }


def test_times_are_written_in_their_iso_form() -> None:
    moments = {"at": datetime.datetime(2026, 11, 21, 12, 30, 5), "day": datetime.date(2026, 11, 21), "time": datetime.time(12, 30)}
    written = {"at": "2026-11-21T12:30:05", "day": "2026-11-21", "time": "12:30:00"}
    assert json.loads(inspector_plugin.to_json(moments)) == recorder_plugin._plain(moments) == written


def test_the_content_of_an_own_dict_is_written_without_its_code() -> None:
    assert inspector_plugin.to_json(MAKERS["endless dict"]()) == '{"a": 1}'
