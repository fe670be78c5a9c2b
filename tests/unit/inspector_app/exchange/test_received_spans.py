"""Spans that arrive in pieces are in the end the sessions that they are as a whole."""

from __future__ import annotations

import json
import random
import tarfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from inspector_app.exchange.otlp_sessions import received_spans
from inspector_app.exchange.otlp_sessions.received_spans import Grown, ReceivedSpans
from inspector_app.exchange.otlp_sessions.sessions import joined, sessions_of_spans
from inspector_app.support.otlp import OtlpError, OtlpSpan, spans_of_json
from runtime.sessions.session_key import SessionKey

PACKED = Path(__file__).parents[3] / "data" / "otlp" / "frameworks.tar.xz"
Stored = dict[SessionKey, list[str]]


@pytest.fixture(scope="module")
def files() -> dict[str, list[OtlpSpan]]:
    found: dict[str, list[OtlpSpan]] = {}
    with tarfile.open(PACKED) as packed:
        for member in packed.getmembers():
            if member.name.endswith(".jsonl") and (data := packed.extractfile(member)) is not None:
                spans: list[OtlpSpan] = []
                for line in data.read().splitlines():
                    try:
                        spans += spans_of_json(line)
                    except OtlpError:
                        continue
                found[Path(member.name).stem] = spans
    return found


def whole(spans: list[OtlpSpan]) -> Stored:
    return {key: [*map(str, joined(turns))] for key, turns in sessions_of_spans(spans).items()}


def put(stored: Stored, ids: dict[SessionKey, list[str]], grown: list[Grown]) -> None:
    """Do what the window does with its database."""
    for each in grown:
        kept = len(ids.get(each.key, [])) - len(each.replaced)
        assert ids.get(each.key, [])[kept:] == each.replaced
        ids[each.key] = [*ids.get(each.key, [])[:kept], *(event.id for event in each.copy.events)]
        stored[each.key] = [*stored.get(each.key, [])[:kept], *map(str, each.copy.events)]
        assert len(set(ids[each.key])) == len(ids[each.key])
        if each.is_empty:
            assert stored.pop(each.key) == []


@pytest.mark.parametrize("seed", range(3))
def test_in_any_pieces_and_order_the_sessions_are_the_same_in_the_end(files: dict[str, list[OtlpSpan]], seed: int) -> None:
    order = random.Random(seed)
    for name, spans in files.items():
        left = list(spans)
        if seed:
            order.shuffle(left)
        received, stored, ids = ReceivedSpans(), Stored(), dict[SessionKey, list[str]]()
        while left:
            count = order.randint(1, 4)
            received.add(left[:count])
            del left[:count]
            put(stored, ids, received.grow())
        assert stored == whole(spans), name
        received.add(spans)
        assert received.grow() == [], f"{name}: what arrives twice changes nothing"


def test_calls_of_sessions_in_another_database_are_left_to_it(files: dict[str, list[OtlpSpan]]) -> None:
    (key,) = whole(files["google_adk_tools"])
    received = ReceivedSpans()
    received.add(files["google_adk_tools"] + files["openai_traceloop_tools"])
    assert {each.key for each in received.grow({key.session_id})} == whole(files["openai_traceloop_tools"]).keys()


def test_what_is_of_no_agent_is_counted_once(files: dict[str, list[OtlpSpan]]) -> None:
    received, spans = ReceivedSpans(), files["no_agents"]
    for _ in range(2):
        received.add(spans)
        assert received.grow() == []
    assert received.unused == len({span.span_id for span in spans})


def test_memory_is_bounded_and_later_spans_are_added(files: dict[str, list[OtlpSpan]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(received_spans, "MOST_KEPT", 300)
    spans = files["pydantic_ai_tools"]
    received, stored, ids = ReceivedSpans(), Stored(), dict[SessionKey, list[str]]()
    for number in range(200):
        received.add([replace(span, trace_id=f"t{number}", span_id=f"{number}-{span.span_id}") for span in spans])
        put(stored, ids, received.grow())
        assert sum(map(len, received._traces.values())) <= 300
        assert len(received._of_trace) <= 300
    (events,) = stored.values()
    ((_, once),) = whole(spans).items()
    assert len(events) == 200 * len(once)


def test_who_brings_too_much_waits_for_room(files: dict[str, list[OtlpSpan]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(received_spans, "MOST_WAITING", 5)
    received, spans = ReceivedSpans(), files["strands_tools"]
    assert len(spans) > 5
    received.add(spans)
    bringing = threading.Thread(target=received.add, args=(spans,))
    bringing.start()
    received.grow()
    bringing.join(20)
    assert not bringing.is_alive()
    received.add(spans)
    bringing = threading.Thread(target=received.add, args=(spans,))
    bringing.start()
    received.close()
    bringing.join(20)
    assert not bringing.is_alive()


def test_events_of_hostile_spans_have_ids_of_their_own() -> None:
    def span(trace: str, name: str) -> OtlpSpan:
        said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": name}]}])
        about = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "c", "gen_ai.output.messages": said}
        return OtlpSpan(trace, "same", "chat", 1.0, 2.0, about, None)

    received, stored, ids = ReceivedSpans(), Stored(), dict[SessionKey, list[str]]()
    for number in range(4):
        received.add([span(str(number), "x")])
        put(stored, ids, received.grow())
    assert [*ids.values()] == [["same", "same+", "same++", "same+++"]]
