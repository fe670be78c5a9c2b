"""Traces of agents of many frameworks as sessions, compared with what their models and tools noted themselves."""

from __future__ import annotations

import gzip
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main
from inspector_app.exchange.otlp_sessions.trace_files import is_trace_file
from inspector_app.exchange.otlp_sessions.trace_reading import TraceFileError, read_trace_file
from inspector_app.presentation.event_details import details, texts
from inspector_app.presentation.event_summary import describe
from runtime.events.event import Event
from runtime.sessions.lineage import SessionCopy

PACKED = Path(__file__).parents[3] / "data" / "otlp" / "frameworks.tar.xz"
with tarfile.open(PACKED) as packed:
    NAMES = sorted(Path(name).name.removesuffix(".expected.json") for name in packed.getnames() if name.endswith(".expected.json"))


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    with tarfile.open(PACKED) as packed:
        packed.extractall(folder, filter="data")
    return folder / "otlp"


def squeezed(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "").strip()


def parts(events: list[Event], kind: str) -> Iterator[tuple[Event, Any]]:
    for event in events:
        for part in event.content.parts or [] if event.content else []:
            if (value := getattr(part, kind)) is not None:
                yield event, value


def difference(given: dict[str, Any], found: list[Event], has_content: bool) -> list[str]:
    """Return what differs between the noted events of a session and the found ones."""
    models = [one for one in given["events"] if one["kind"] == "model"]
    tools = [one for one in given["events"] if one["kind"] == "tool"]
    wrong = []
    for place, name in enumerate(("prompt_token_count", "candidates_token_count")):
        wanted = sum((one.get("tokens") or [0, 0])[place] for one in models)
        if (count := sum(getattr(event.usage_metadata, name) or 0 for event in found if event.usage_metadata)) != wanted:
            wrong.append(f"{name}: {count}, not {wanted}")
    if len([event for event in found if event.usage_metadata or event.model_version]) != len(models):
        wrong.append("number of model calls")
    if [event.timestamp for event in found] != sorted(event.timestamp for event in found):
        wrong.append("times go back")
    if not has_content:
        return wrong
    if (asked := [squeezed(text) for event, text in parts(found, "text") if event.author == "user"]) != [
        squeezed(one["text"]) for one in given["events"] if one["kind"] == "user" and not one.get("nested") and one.get("text")
    ]:
        wrong.append(f"asked: {asked}")
    said = squeezed(" ".join(text for event, text in parts(found, "text") if event.author != "user"))
    for one in models:
        if one.get("text") and said.count(squeezed(one["text"])) < 1:
            wrong.append(f"not said: {one['text']}")
    called = [(event.author, call.name, call.args or {}, bool(event.branch)) for event, call in parts(found, "function_call")]
    for one in models:
        for call in one.get("calls") or []:
            author = one.get("author") or next((each[0] for each in called if each[1] == call["name"]), "")
            wanted = (author, call["name"], call["args"] or {}, bool(one.get("nested")))
            if wanted not in called:
                wrong.append(f"not called: {wanted} in {called}")
    answered = sorted(
        response.name for _, response in parts(found, "function_response") if not response.name.startswith(("transfer", "handoff"))
    )
    if answered != sorted(one["name"] for one in tools if not one["name"].startswith(("transfer", "handoff"))):
        wrong.append(f"results: {answered}")
    return wrong


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_shows_what_its_models_and_tools_noted(name: str, traces: Path) -> None:
    wanted = json.loads((traces / f"{name}.expected.json").read_text("utf-8"))
    file = traces / wanted["file"]
    assert is_trace_file(str(file))
    if not wanted["sessions"]:
        with pytest.raises(TraceFileError, match="of no agent"):
            read_trace_file(str(file))
        return
    found: dict[str, SessionCopy] = {key.session_id: copy for key, copy in read_trace_file(str(file)).sessions.items()}
    assert len(found) == len(wanted["sessions"])
    left = sorted(found.values(), key=lambda copy: copy.created)
    for session in wanted["sessions"]:
        tried = [found[session["id"]]] if session["id"] else left
        has_content = wanted.get("content") is not False and not wanted.get("unfinished")
        least = min((difference(session, list(copy.events), has_content) for copy in tried), key=len)
        assert not least or wanted.get("unfinished"), least


def test_a_trace_in_any_form_is_the_same_session(traces: Path, tmp_path: Path) -> None:
    lines = traces / "pydantic_ai_tools.jsonl"
    whole, packed = tmp_path / "whole", tmp_path / "packed"
    requests = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    whole.write_text(json.dumps({"resourceSpans": [one for each in requests for one in each["resourceSpans"]]}, indent=1), "utf-8")
    packed.write_bytes(gzip.compress(lines.read_bytes()))
    wanted = read_trace_file(str(lines)).sessions
    for file in (whole, packed):
        assert is_trace_file(str(file))
        assert read_trace_file(str(file)).sessions == wanted


def test_a_request_in_protobuf_is_read(traces: Path) -> None:
    pytest.importorskip("opentelemetry.proto")
    for file in sorted((traces / "posts").glob("*.pb")):
        assert is_trace_file(str(file)), file
        in_json = read_trace_file(str(file.with_suffix(".json"))).sessions
        assert {key: list(map(str, copy.events)) for key, copy in read_trace_file(str(file)).sessions.items()} == {
            key: list(map(str, copy.events)) for key, copy in in_json.items()
        }


def test_content_that_was_not_captured_is_said_to_be_missing(traces: Path) -> None:
    for name in ("pydantic_ai_off", "strands_off", "openai_agents_off", "google_adk_off"):
        if (traces / f"{name}.jsonl").exists():
            (copy,) = read_trace_file(str(traces / f"{name}.jsonl")).sessions.values()
            missing = [event for event in copy.events if "Content was not captured" in texts(event)]
            assert missing and not copy.notes, name
            assert not any(list(details(event)) for event in missing)
            assert "content was not captured" in {describe(event).summary for event in missing}, name
            shown = [event for event in copy.events if event.author == "user" and event.content and event not in missing]
            assert not any(texts(event) for event in shown), name


def test_what_is_not_used_is_counted(traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trace.jsonl"
    file.write_bytes((traces / "strands_tools.jsonl").read_bytes() + b"no trace\n" + (traces / "no_agents.jsonl").read_bytes())
    found = read_trace_file(str(file))
    assert "lines that are no traces: 1" in found.left_out
    assert "spans that are of no agent" in found.left_out
    for words in (["sessions", str(file)], ["import", str(file), str(tmp_path / "made.db")]):
        assert main(words) == 0
        assert found.left_out in capsys.readouterr().err


def test_commands_read_a_trace_and_import_makes_a_database_of_it(traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, database = str(traces / "strands_tools.jsonl"), str(tmp_path / "made.db")
    before = Path(file).read_bytes()
    assert main(["sessions", file, "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert shown["id"] == "conv-2026-001"
    assert main(["events", file, "--json"]) == 0
    events = capsys.readouterr().out
    assert main(["import", file, database]) == 0
    capsys.readouterr()
    assert main(["events", database, "--json"]) == 0
    assert capsys.readouterr().out == events
    assert Path(file).read_bytes() == before


def test_other_files_are_no_traces(tmp_path: Path) -> None:
    for number, text in enumerate(
        (b"", b"{}", b"SQLite format 3\0", b'{"session": {"id": "resourceSpans"}}', b"\n\x05\x0a", b"\x1f\x8b\x08")
    ):
        file = tmp_path / str(number)
        file.write_bytes(text)
        assert not is_trace_file(str(file)), text
    assert not is_trace_file(str(tmp_path))
    assert not is_trace_file("-")


def span(name: str, over: str = "", **more: Any) -> dict[str, Any]:
    given = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "c", **more}
    attributes = [{"key": key, "value": value if isinstance(value, dict) else {"stringValue": value}} for key, value in given.items()]
    times = {"startTimeUnixNano": "1000000000", "endTimeUnixNano": "2000000000"}
    return {"traceId": "t", "spanId": name, "parentSpanId": over, "name": name, **times, "attributes": attributes}


@pytest.mark.parametrize(
    "spans",
    [
        [span("a", "b"), span("b", "c"), span("c", "a")],
        [span("a", "a")],
        [span("a", **{"gen_ai.output.messages": "[" * 5_000})],
        [
            span(
                "a",
                **{"gen_ai.output.messages": '[{"role": 5, "parts": [{"type": "tool_call", "name": null, "arguments": 7}, 3, null]}, 9]'},
            )
        ],
        [span("a", **{"gen_ai.usage.input_tokens": {"intValue": "9" * 30}})],
        [span("a", **{"gen_ai.tool.name": "x", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": {"arrayValue": {}}})],
        [span(str(number), str(number - 1)) for number in range(3_000)],
        [span("a", **{"gen_ai.conversation.id": "x" * 5_000})],
        [{**span("a"), "endTimeUnixNano": "9" * 40}, span("b")],
        [span("a", **{"llm.output_messages.999999.message.content": "x", "gen_ai.output.messages": '{"a": 1}'})],
        [{**span("é" * 500), "traceId": "\n"}],
    ],
)
def test_hostile_spans_are_sessions_or_refused(spans: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trace.jsonl"
    file.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}), "utf-8")
    assert main(["events", str(file), "--json"]) == 0
    assert capsys.readouterr().out


def test_a_run_has_ended_when_its_outermost_span_has(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, status in (("pydantic_ai_off", "finished"), ("strands_tools", "finished"), ("pydantic_ai_unfinished", "interrupted")):
        assert main(["invocations", str(traces / f"{name}.jsonl"), "--json"]) == 0
        assert {each["status"] for each in json.loads(capsys.readouterr().out)} == {status}, name
