"""Whether the events of a database have a field."""

from __future__ import annotations

from runtime.storage.reading.reader import StoredDatabase
from tests.architecture.source_rules import ROOT

DATA = ROOT / "tests" / "data"


def test_a_field_is_a_key_of_the_events_object_and_no_key_within() -> None:
    with StoredDatabase.open(str(DATA / "v1.db")) as stored:
        assert stored.has_event_field("node_info")
        assert not stored.has_event_field("state_delta")
        assert not stored.has_event_field("no_such_field")


def test_layouts_without_json_have_no_fields() -> None:
    with StoredDatabase.open(str(DATA / "v0.db")) as stored:
        assert not stored.has_event_field("id")
