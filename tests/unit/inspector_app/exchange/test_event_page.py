"""What a page shows of an event: all that the event holds, and all that the window shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from inspector_app.detail.event_cards import _values
from inspector_app.exchange.event_page import event_page
from inspector_app.presentation.event_details import texts as texts_beside
from inspector_app.presentation.event_summary import describe, text_of
from inspector_app.presentation.values import visible_lines
from runtime.compare.event_differences import content_of
from runtime.events import Event
from runtime.events.credentials import without_credentials
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.searched_texts import STRUCTURE, searched_texts
from tests.fixture_paths import fixtures_dir, manifest

MOST_SHOWN = 1_000  # characters of a text that are compared: a page cuts long values
SAID = {"role": "model", "parts": [{"text": "They greeted."}]}


def shown(**members: Any) -> str:
    event = Event(author="desk", invocation_id="i1", timestamp=1.0, **members)
    blocks = event_page(1, event.model_dump(mode="json", exclude_none=True)).blocks
    return "\n".join(f"{block.title}: {block.body}" for block in blocks)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"output": {"topic": "parcel"}}, ["Output", '"topic": "parcel"']),
        ({"output": "parcel"}, ["Output: parcel"]),
        ({"output": False}, ["Output: false"]),
        ({"output": 0}, ["Output: 0"]),
        ({"actions": {"route": "parcel"}}, ["Route: parcel"]),
        ({"actions": {"route": ["a", "b"]}}, ["Route", '"b"']),
        ({"actions": {"compaction": {"start_timestamp": 1, "end_timestamp": 2, "compacted_content": SAID}}}, ["Summary: They greeted."]),
        ({"input_transcription": {"text": "What time is it?"}}, ["Transcript: What time is it?"]),
        ({"output_transcription": {"text": "Noon."}, "input_transcription": {"text": "When?"}}, ["Noon.", "When?"]),
        ({"content": SAID, "output_transcription": {"text": "Noon."}}, ["They greeted.", "Transcript: Noon."]),
        ({"node_info": {"path": "desk@1/sort@1"}, "output": 1}, ["Node: desk › sort"]),
        ({"actions": {"agent_state": {"step": 2}}}, ["Checkpoint", '"step": 2']),
        ({"actions": {"escalate": True}}, ["Escalate: true"]),
        ({"actions": {"end_of_agent": True}}, ["End of agent: true"]),
        ({"actions": {"rewind_before_invocation_id": "i0"}}, ["Rewind before: i0"]),
        ({"custom_metadata": {"team": "night"}}, ["Custom metadata", "night"]),
        ({"grounding_metadata": {"web_search_queries": ["noon"]}, "content": SAID}, ["Searched for", "noon"]),
    ],
)
def test_a_page_has_what_an_event_holds_beside_its_parts(members: dict[str, Any], words: list[str]) -> None:
    text = shown(**members)
    assert [word for word in words if word not in text] == []


def test_an_event_with_nothing_but_a_route_says_it() -> None:
    assert describe(Event(author="desk", invocation_id="i1", actions={"route": "parcel"})).summary == 'route → "parcel"'


def test_a_note_is_no_custom_metadata() -> None:
    assert "metadata" not in shown(custom_metadata={"inspector_note": {"text": "look"}}).casefold()


def test_page_window_search_and_comparison_have_the_same_of_every_stored_event() -> None:
    compared = 0
    for entry in manifest():
        for event in _events(entry["file"]):
            texts = [*_leaves(_stored(event))]
            blocks = event_page(1, event.model_dump(mode="json", exclude_none=True)).blocks
            page = "\n".join(f"{block.title}\n{block.body}" for block in blocks)
            window = "\n".join([*_said(event), *_leaves([*_values(event)[0].items()]), event.error_message or ""])
            assert [text for text in texts if visible_lines(text) not in page.replace('\\"', '"').replace("\\n", "\n")] == []
            assert [text for text in texts if text not in window] == []
            found = "\n".join(searched_texts(json.loads(event.model_dump_json(exclude_none=True))))
            assert [text for text in texts if text not in found and text not in STRUCTURE] == []
            compared_with = "\n".join(_leaves([*content_of(event).values()]))
            assert [text for text in _leaves(_stored(without_credentials(event))) if text not in compared_with] == []
            compared += len(texts)
    assert compared > 1_000


def _said(event: Event) -> list[str]:
    """Return the texts of the window's cards."""
    return [text_of(event), text_of(event, thoughts=True), *texts_beside(event).values()]


def _stored(event: Event) -> list[Any]:
    """Return what an event holds, read from its JSON alone."""
    data = event.model_dump(mode="json", exclude_none=True)
    actions = data.get("actions", {})
    parts = [
        part.get("text") or (part.get("function_call") or {}).get("args") or (part.get("function_response") or {}).get("response")
        for part in (data.get("content") or {}).get("parts") or ()
    ]
    spoken = [(data.get(name) or {}).get("text") for name in ("input_transcription", "output_transcription")]
    summary = [part.get("text") for part in ((actions.get("compaction") or {}).get("compacted_content") or {}).get("parts") or ()]
    return [*parts, *spoken, *summary, data.get("output"), actions.get("route"), actions.get("agent_state"), data.get("error_message")]


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, str) and value.strip():
        yield value[:MOST_SHOWN].strip()


def _events(file: str) -> Iterator[Event]:
    with StoredDatabase.open(str(fixtures_dir() / "open" / file)) as stored:
        for summary in stored.sessions():
            yield from stored.events(summary.key)


@pytest.mark.parametrize(
    ("response", "long_running", "title", "kind"),
    [
        ({"price": 3}, (), "Result of search", "result"),
        ({"error": "no answer"}, (), "search failed", "error"),
        ({"error": "This tool call requires confirmation, please approve or reject."}, ("c",), "search waits for an answer", "result"),
    ],
)
def test_a_failed_call_has_the_title_that_the_window_gives_it(
    response: dict[str, Any], long_running: tuple[str, ...], title: str, kind: str
) -> None:
    part = {"function_response": {"id": "c", "name": "search", "response": response}}
    requested = {"requested_tool_confirmations": {name: {} for name in long_running}}
    data = {
        "id": "e",
        "author": "a",
        "invocation_id": "i",
        "timestamp": 1.0,
        "content": {"role": "user", "parts": [part]},
        "actions": requested,
    }
    [block] = event_page(1, data).blocks[:1]
    assert (block.title, block.kind) == (title, kind)
