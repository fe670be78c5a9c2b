"""Traces of google-adk become recorded calls, matched to events by ids."""

from __future__ import annotations

import base64
import json
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector_app.documents.trace_recording import TraceRecorder, key_of_traces
from inspector_app.support.otlp import OtlpError, OtlpSpan, spans_of_json, spans_of_protobuf
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.recordings.recording import Recording

DATA = Path(__file__).parents[3] / "data" / "otlp"
PLANTED = "sk-live-abcdefghijklmnop1234"


def traced() -> list[OtlpSpan]:
    return [span for line in (DATA / "traces.jsonl").read_bytes().splitlines() for span in spans_of_json(line)]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    recorder = TraceRecorder(tmp_path / "traces.rec.db")
    recorder.add(traced())
    recorder.close()
    return tmp_path / "traces.rec.db"


@pytest.mark.parametrize("session", ["s-v1", "s-v2"])
def test_calls_are_matched_to_the_events_of_a_real_run(recording: Path, session: str) -> None:
    key = SessionKey("orders", "u", session)
    with StoredDatabase.open(str(DATA / "traced.db")) as database:
        events = list(database.events(key))
    with closing(Recording(recording)) as found:
        models, tools = found.model_calls(key_of_traces(key)), found.tool_calls(key_of_traces(key))
        answers = [event.id for event in events if event.author == "desk" and not event.get_function_responses()]
        assert {call.event_id for call in models} == set(answers)
        assert {call.invocation_id for call in (*models, *tools)} == {events[0].invocation_id}
        assert {(call.tool, call.call_id, call.agent) for call in tools} == {("stock", "call-1", "desk"), ("price", "call-2", "desk")}
        assert [call.error for call in tools if call.tool == "price"] == ["ValueError"]
        assert all(call.ended is not None and 0.05 <= call.ended < 5 and call.model == "scripted-model" for call in models)
        exchange = found.exchange(answers[1])
        assert exchange is not None
        text = repr(exchange)
        assert "You sell paper." in text and "40 boxes?" in text and "call-1" in text
        assert "In stock; key (redacted)" in text


def test_a_secret_in_a_span_is_not_written(recording: Path) -> None:
    assert PLANTED.encode() in (DATA / "traces.jsonl").read_bytes()
    for file in recording.parent.iterdir():
        assert PLANTED.encode() not in file.read_bytes()


def test_the_same_traces_are_recorded_once(recording: Path) -> None:
    again = TraceRecorder(recording)
    assert again.add(traced()) == 0
    again.close()
    with closing(Recording(recording)) as found:
        assert len(found.tool_calls()) == 4


def test_a_tool_waits_for_the_session_of_its_trace(tmp_path: Path) -> None:
    spans = traced()
    first = next(span for span in spans if span.attributes.get("gen_ai.tool.name") == "stock")
    model = next(span for span in spans if span.trace_id == first.trace_id and "gcp.vertex.agent.invocation_id" in span.attributes)
    recorder = TraceRecorder(tmp_path / "t.rec.db")
    assert recorder.add([first]) == 0
    assert recorder.add([model]) == 2
    recorder.close()


def test_protobuf_has_the_same_spans_as_json() -> None:
    pytest.importorskip("opentelemetry.proto", reason="needs the extra otlp")
    from google.protobuf.json_format import Parse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    for line in (DATA / "traces.jsonl").read_text("utf-8").splitlines():
        request = json.loads(line)
        for resource in request["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:  # protobuf's own JSON has Base64 for bytes
                    for name in ("traceId", "spanId", "parentSpanId"):
                        span[name] = _base64(span[name])
        (expected,) = spans_of_json(line.encode())
        (found,) = spans_of_protobuf(Parse(json.dumps(request), ExportTraceServiceRequest()).SerializeToString())
        assert (found.trace_id, found.span_id, found.name, dict(found.attributes), found.error) == (
            expected.trace_id,
            expected.span_id,
            expected.name,
            dict(expected.attributes),
            expected.error,
        )
        assert found.started == pytest.approx(expected.started)


def test_protobuf_keeps_values_that_its_json_leaves_out() -> None:
    pytest.importorskip("opentelemetry.proto", reason="needs the extra otlp")
    from google.protobuf.json_format import Parse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    given = [{"boolValue": False}, {"intValue": 0}, {"stringValue": ""}, {"doubleValue": 0}, {"arrayValue": {}}, {"kvlistValue": {}}, {}]
    attributes = [{"key": str(place), "value": value} for place, value in enumerate(given)]
    span = {"traceId": "qg==", "spanId": "uw==", "startTimeUnixNano": 1, "endTimeUnixNano": 2, "attributes": attributes, "events": [{}]}
    request = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    (found,) = spans_of_protobuf(Parse(json.dumps(request), ExportTraceServiceRequest()).SerializeToString())
    assert [*found.attributes.values()] == [False, 0, "", 0.0, [], {}, None]
    assert (found.trace_id, found.span_id, found.name, found.events) == ("aa", "bb", "", [("", {})])


def _base64(text: str) -> str:
    return base64.b64encode(bytes.fromhex(text)).decode()


def test_what_is_no_trace_is_refused_with_a_sentence() -> None:
    for data in (b"", b"{", b"[]", b'{"spans": []}', b"[" * 100_000, b"\xff"):
        with pytest.raises(OtlpError):
            spans_of_json(data)
    pytest.importorskip("opentelemetry.proto", reason="needs the extra otlp")
    with pytest.raises(OtlpError, match="no protobuf"):
        spans_of_protobuf(b"\xff\xff\xff")


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JSON = st.recursive(PLAIN, lambda one: st.lists(one, max_size=3), max_leaves=8)
VALUE = JSON | st.dictionaries(st.sampled_from(["stringValue", "intValue", "arrayValue"]), JSON)
SPAN = st.fixed_dictionaries(
    {"traceId": JSON | st.just("a"), "spanId": JSON | st.just("b")},
    optional={
        "name": JSON,
        "startTimeUnixNano": JSON | st.just("1"),
        "endTimeUnixNano": JSON | st.just("2"),
        "status": JSON | st.just({"code": 2}),
        "attributes": JSON | st.lists(st.fixed_dictionaries({"key": JSON, "value": VALUE}), max_size=3),
    },
)


@given(st.lists(SPAN | JSON, max_size=4))
def test_wrong_spans_are_left_out(spans: list[object]) -> None:
    data = json.dumps({"resourceSpans": [None, {"scopeSpans": [{"spans": spans}, 3]}]}).encode()
    assert all(span.started <= span.ended for span in spans_of_json(data))
