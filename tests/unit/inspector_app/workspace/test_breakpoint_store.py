"""The store of breakpoints: one object, saved per agent, with definitions and counters reported apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector_app.support.preferences import Preferences
from inspector_app.workspace.breakpoint_store import BreakpointStore
from runtime.debugger import breakpoints
from runtime.events.event import Event
from runtime.expressions import parse
from tests.unit.inspector_app.workspace.fakes import FakeAgent, FakeAgents, FakeMessages


@pytest.fixture
def preferences(tmp_path: Path) -> Preferences:
    return Preferences(tmp_path / "preferences.json")


@pytest.fixture
def agents(qapp: object) -> FakeAgents:
    return FakeAgents()


@pytest.fixture
def messages() -> FakeMessages:
    return FakeMessages()


@pytest.fixture
def store(agents: FakeAgents, preferences: Preferences, messages: FakeMessages) -> BreakpointStore:
    return BreakpointStore(agents, preferences, messages)  # type: ignore[arg-type]


def test_each_agent_keeps_one_object_that_loading_another_agent_does_not_change(
    store: BreakpointStore, agents: FakeAgents, tmp_path: Path
) -> None:
    first, second = FakeAgent(tmp_path / "first"), FakeAgent(tmp_path / "second")
    agents.load(first)
    of_first = store.breakpoints
    store.add({"condition": "error"})
    agents.load(second)
    assert list(store) == []
    store.add({"condition": "delta"})
    assert [one.condition for one in of_first] == ["error"]
    agents.load(first)
    assert [one.condition for one in store] == ["error"]
    assert store.breakpoints is of_first


def test_reloading_an_agent_keeps_its_counters_and_its_object(store: BreakpointStore, agents: FakeAgents, tmp_path: Path) -> None:
    agents.load(FakeAgent(tmp_path))
    store.add({"condition": ""})
    of_run = store.breakpoints
    of_run.met("event", Event(author="story"), None)
    agents.load(FakeAgent(tmp_path))
    assert [one.hits for one in store] == [1]
    store.remove(1)
    assert of_run.met("event", Event(author="story"), None) == []


def test_reloading_an_agent_reads_what_another_window_changed(
    store: BreakpointStore, agents: FakeAgents, preferences: Preferences, tmp_path: Path
) -> None:
    agents.load(FakeAgent(tmp_path))
    store.add({"condition": "error"})
    preferences.keep_breakpoints(tmp_path, "[]")
    agents.load(FakeAgent(tmp_path))
    assert list(store) == []


def test_hits_and_marks_neither_store_nor_parse(
    store: BreakpointStore, agents: FakeAgents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents.load(FakeAgent(tmp_path))
    store.add({"condition": 'author == "story"', "log": "by {author}"})
    parsed: list[str] = []
    stored: list[str] = []
    monkeypatch.setattr(breakpoints, "parse", lambda text: parsed.append(text) or parse(text))
    monkeypatch.setattr(breakpoints.Breakpoints, "to_json", lambda _self: stored.append("") or "[]")
    for _ in range(1_000):
        event = Event(author="story")
        for one in store.breakpoints.met("event", event, None):
            one.message(event, None)
        store.mark_of(event)
    assert stored == []
    assert len(parsed) <= 1, "a condition is parsed once, not at each event"


def test_loading_an_agent_saves_nothing(store: BreakpointStore, agents: FakeAgents, preferences: Preferences, tmp_path: Path) -> None:
    preferences.keep_breakpoints(tmp_path, "unreadable")
    agents.load(FakeAgent(tmp_path))
    assert preferences.breakpoints(tmp_path) == "unreadable", "it can still be repaired"


def test_unreadable_breakpoints_are_reported_and_replace_those_of_the_previous_agent(
    store: BreakpointStore, agents: FakeAgents, preferences: Preferences, messages: FakeMessages, tmp_path: Path
) -> None:
    agents.load(FakeAgent(tmp_path / "first"))
    store.add({"condition": "error"})
    preferences.keep_breakpoints(tmp_path / "second", "unreadable")
    agents.load(FakeAgent(tmp_path / "second"))
    assert list(store) == []
    assert len(messages.texts) == 1


def test_a_hit_is_not_a_change_and_hits_are_reported_once_a_frame(store: BreakpointStore, qtbot: QtBot) -> None:
    changes: list[None] = []
    hits: list[None] = []
    store.add({"condition": ""})
    store.changed.connect(lambda: changes.append(None))
    store.hit.connect(lambda: hits.append(None))
    for _ in range(100):
        store.breakpoints.met("event", Event(author="story"), None)
    assert hits == []
    qtbot.waitUntil(lambda: bool(hits))
    assert (len(changes), len(hits)) == (0, 1)
    assert next(iter(store)).hits == 100


def test_a_condition_that_cannot_be_read_is_reported(store: BreakpointStore, messages: FakeMessages) -> None:
    store.add({"condition": "author =="})
    assert list(store) == []
    assert len(messages.texts) == 1


def test_the_gutter_marks_where_a_breakpoint_stops_without_counting_hits(store: BreakpointStore) -> None:
    event, other = Event(author="story"), Event(author="critic")
    store.add({"condition": 'author == "story"'})
    (one,) = store
    assert (store.mark_of(event), store.mark_of(other)) == ("on", "")
    store.change(one.id, {"enabled": False})
    assert store.mark_of(event) == "off"
    assert one.hits == 0


def test_a_logpoint_has_no_mark(store: BreakpointStore) -> None:
    store.add({"condition": "", "log": "here"})
    assert store.mark_of(Event(author="story")) == ""


def test_only_the_breakpoint_made_from_an_event_is_removed_with_it(store: BreakpointStore) -> None:
    store.add({"condition": 'author == "story"'})
    assert not store.remove_made_from(Event(author="critic"))
    assert store.remove_made_from(Event(author="story"))
    assert list(store) == []
