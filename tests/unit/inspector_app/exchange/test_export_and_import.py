"""The commands `export` and `import`: what is left out, what is refused, and what a page may contain."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import re
import shutil
import sys
import tracemalloc
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from inspector_app.cli import main
from inspector_app.exchange.capsule import is_capsule
from inspector_app.exchange.imported_sessions import read_sessions
from inspector_app.remote.store import RemoteSession
from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.open_files import open_files
from runtime.storage.reading.reader import StoredDatabase
from tests.postgres import server
from tests.stranger import Stranger
from tests.unit.resources.test_redaction import CASES

DATA = Path(__file__).parents[3] / "data"
KEY = SessionKey("shop", "maria", "s1")


def write(file: Path, *events: Event, state: dict[str, Any] | None = None) -> None:
    async def store() -> None:
        async with DatabaseSessionService(f"sqlite:///{file}") as service:
            session = await service.create_session(app_name="shop", user_id="maria", session_id="s1", state=state)
            for event in events:
                await service.append_event(session, event)

    asyncio.run(store())


def said(text: str, **actions: Any) -> Event:
    content = {"role": "model", "parts": [{"text": text}]}
    return Event(author="clerk", invocation_id="i1", content=content, actions=EventActions(**actions))


def run(*words: str | Path) -> int:
    return main([str(word) for word in words])


def read(file: Path) -> str:
    return file.read_text("utf-8")


@pytest.mark.parametrize("kind", ["json", "jsonl", "md", "html", "evalset.json"])
def test_no_export_has_a_planted_secret(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secrets = [planted for planted, _ in CASES]
    events = [said("see the state", state_delta={f"k{number}": {"held": value}}) for number, (_, value) in enumerate(CASES)]
    events += [said(f"look: {value}" if isinstance(value, str) else json.dumps(value)) for _, value in CASES]
    file = types.Part(inline_data=types.Blob(mime_type="text/plain", data=json.dumps(CASES[1][1]).encode()))
    events.append(Event(author="clerk", invocation_id="i1", content=types.Content(role="model", parts=[file])))
    write(tmp_path / "a.db", *events, state={f"user:s{number}": value for number, (_, value) in enumerate(CASES)})
    assert run("export", tmp_path / "a.db", tmp_path / f"out.{kind}") == 0
    text = read(tmp_path / f"out.{kind}")
    assert [secret for secret in secrets if secret in text or json.dumps(secret)[1:-1] in text] == []
    assert base64.urlsafe_b64encode(secrets[1].encode()).decode()[4:-4] not in text
    assert "events and states, what looks like a password" in capsys.readouterr().err


SECRET, GIVEN, TEMP = "sk-proj-Zm9vYmFyMTIzNDU2Nzg5MDEyMzQ", "given-by-maria", "of-this-run-only"


def kept(depth: int = 0) -> dict[str, Any]:
    """Return what an event keeps of an inner run, which keeps one, too."""
    answer = {"name": "adk_request_credential", "id": "c", "response": {"authScheme": {}, "apiKey": GIVEN}}
    rows: list[dict[str, Any]] = [
        {"author": "user", "content": {"parts": [{"function_response": answer}]}},
        {
            "author": "cashier",
            "content": {"parts": [{"text": f"use {SECRET}", "thought_signature": "c2stcHJvai1abTl2WW1GeU1USXpORFUyTnpnNU1ERXlNelE="}]},
            "actions": {"state_delta": {"temp:k": TEMP, "k": 1}},
            "custom_metadata": kept(depth + 1) if depth < 2 else {},
        },
    ]
    return {"inspector_inner_run": {"call": "q", "agent": "cashier", "request": "r", "events": rows}}


@pytest.mark.parametrize("kind", ["json", "jsonl", "md", "html", "evalset.json", "capsule"])
def test_no_output_has_secrets_of_an_inner_run(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = types.Part(function_call=types.FunctionCall(id="q", name="adk_request_confirmation", args={}))
    content = types.Content(role="model", parts=[call])
    event = Event(id="e", author="clerk", invocation_id="i1", content=content, long_running_tool_ids={"q"}, custom_metadata=kept())
    write(tmp_path / "a.db", event)
    file = tmp_path / f"out.{kind}"
    assert run("capsule", tmp_path / "a.db", file) == 0 if kind == "capsule" else run("export", tmp_path / "a.db", file) == 0
    text = zipfile.ZipFile(file).read("session.jsonl").decode() if kind == "capsule" else read(file)
    assert [secret for secret in (SECRET, GIVEN, TEMP) if secret in text] == []
    if kind == "jsonl":
        assert text.count("c2stcHJvai1abTl2WW1GeU1USXpORFUyTnpnNU1ERXlNelE=") == 3, "a model refuses to continue without it"
    capsys.readouterr()
    assert run("events", tmp_path / "a.db", "--json") == 0
    assert GIVEN not in capsys.readouterr().out


def test_no_temp_value_of_an_inner_run_comes_from_a_file_or_a_server(tmp_path: Path) -> None:
    event = Event(id="e", author="clerk", invocation_id="i1", timestamp=1.0, custom_metadata=kept())
    head = json.dumps({"session": {"id": "s", "app_name": "a", "user_id": "u"}})
    (tmp_path / "in.jsonl").write_text(f"{head}\n{event.model_dump_json(exclude_none=True)}\n", "utf-8")
    (imported,) = read_sessions(str(tmp_path / "in.jsonl")).sessions.values()
    assert "cashier" in repr(list(imported.events)) and TEMP not in repr(list(imported.events))
    session = RemoteSession({}, 1.0, [event])
    assert "cashier" in session.events[0].model_dump_json() and TEMP not in session.events[0].model_dump_json()


def test_the_state_at_each_event_is_that_of_the_original(tmp_path: Path) -> None:
    events = [said("a", state_delta={"n": 2}), said("b", state_delta={"user:plan": "gold"}), said("c", state_delta={"n": 3})]
    write(tmp_path / "a.db", *events, state={"n": 1, "app:rate": 5})
    assert run("export", tmp_path / "a.db", tmp_path / "a.jsonl") == 0
    assert run("import", tmp_path / "a.jsonl", tmp_path / "b.db") == 0
    with StoredDatabase.open(str(tmp_path / "a.db")) as one, StoredDatabase.open(str(tmp_path / "b.db")) as other:
        history, copy = one.history(KEY), other.history(KEY)
        for index in (-1, 0, 1, 2):
            assert (copy.state_at(index).session, copy.state_at(index).user) == (
                history.state_at(index).session,
                history.state_at(index).user,
            )
        assert other.lineages() == {}
        assert other.created(KEY) == one.created(KEY)


def test_selected_events_are_exported_alone(tmp_path: Path) -> None:
    write(tmp_path / "a.db", said("a"), said("b", state_delta={"n": 1}), said("c", state_delta={"n": 2}))
    assert run("export", tmp_path / "a.db", tmp_path / "a.jsonl", "--where", "delta.n == 1") == 0
    assert run("export", tmp_path / "a.db", tmp_path / "b.jsonl", "--last", "1") == 0
    first, last = ([json.loads(line) for line in read(tmp_path / name).splitlines()] for name in ("a.jsonl", "b.jsonl"))
    assert [event["content"]["parts"][0]["text"] for event in first[1:]] == ["b"]
    assert [event["content"]["parts"][0]["text"] for event in last[1:]] == ["c"]
    assert "initial_state" not in first[0]["session"]  # the selected events do not lead from it to the state
    assert run("import", tmp_path / "a.jsonl", tmp_path / "b.db") == 0


@pytest.mark.parametrize("kind", ["file", "server"])
def test_sessions_are_imported_into_an_empty_database(kind: str, tmp_path: Path) -> None:
    write(tmp_path / "a.db", said("a"))
    target = str(tmp_path / "empty.db") if kind == "file" else server().new_database()
    if kind == "file":
        (tmp_path / "empty.db").touch()
    assert run("import", tmp_path / "a.db", target) == 0
    with StoredDatabase.open(target) as database:
        assert [summary.event_count for summary in database.sessions()] == [1]


def test_an_export_is_piped_into_an_import(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.db", said("a"))
    assert run("export", tmp_path / "a.db", "-") == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(capsys.readouterr().out.encode())))
    assert run("import", "-", tmp_path / "b.db", "--app", "other") == 0
    assert "1 session with 1 event from the input" in capsys.readouterr().out
    with StoredDatabase.open(str(tmp_path / "b.db")) as database:
        assert [summary.key for summary in database.sessions()] == [SessionKey("other", "maria", "s1")]


def test_a_session_is_copied_into_a_database_of_adk_webs_own_layout(tmp_path: Path) -> None:
    shutil.copy(DATA / "sqlite.db", tmp_path / "web.db")
    write(tmp_path / "a.db", said("a", state_delta={"n": 2}), state={"n": 1})
    assert run("import", tmp_path / "a.db", tmp_path / "web.db") == 0
    with StoredDatabase.open(str(tmp_path / "web.db")) as database:
        assert database.layout.kind == "sqlite"
        assert database.state(KEY) == {"n": 2}
    assert run("import", tmp_path / "web.db", tmp_path / "c.db", "--session", "s1") == 0
    with StoredDatabase.open(str(tmp_path / "c.db")) as database:
        assert [summary.key for summary in database.sessions()] == [KEY]
        assert database.history(KEY).state_at(-1).session == {"n": 1}


def test_a_page_is_inert_with_any_text_of_a_model(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script><img src=http://example.org/x onerror=alert(2)>"
    write(tmp_path / "a.db", said(hostile, state_delta={hostile: hostile}))
    assert run("export", tmp_path / "a.db", tmp_path / "a.html") == 0
    page = read(tmp_path / "a.html")
    assert re.findall(r"<script[^>]*>", page) == ['<script type="application/json" id="agent-inspector-sessions">']
    assert "<img" not in page
    assert "default-src 'none'" in page
    assert run("import", tmp_path / "a.html", tmp_path / "b.db") == 0
    with StoredDatabase.open(str(tmp_path / "b.db")) as database:
        (event,) = database.events(KEY)
        assert event.content is not None and event.content.parts is not None and event.content.parts[0].text == hostile


def test_a_long_text_is_folded_under_its_beginning(tmp_path: Path) -> None:
    write(tmp_path / "a.db", said("<b>Read</b> this. " + "word " * 1_000))
    assert run("export", tmp_path / "a.db", tmp_path / "a.html") == 0
    (summary,) = re.findall("<summary>(.*?)</summary>", read(tmp_path / "a.html"))
    assert summary.startswith("&lt;b&gt;Read&lt;/b&gt; this. word word")
    assert summary.endswith("… (5,018 characters)")


def test_markdown_shows_what_was_written_as_it_is(tmp_path: Path) -> None:
    write(tmp_path / "a.db", said("# no heading\n```\n[x](http://example.org)"))
    assert run("export", tmp_path / "a.db", tmp_path / "a.md") == 0
    assert "````text\n# no heading\n```\n[x](http://example.org)\n````" in read(tmp_path / "a.md")


def test_a_session_that_adk_web_has_saved_is_imported(tmp_path: Path) -> None:
    event = {"id": "e1", "timestamp": 5.0, "author": "user", "invocationId": "i", "content": {"role": "user", "parts": [{"text": "hi"}]}}
    saved = {"id": "s1", "appName": "shop", "userId": "maria", "state": {"a": 1}, "events": [event], "lastUpdateTime": 5.0}
    (tmp_path / "a.json").write_text(json.dumps(saved))
    assert run("import", tmp_path / "a.json", tmp_path / "b.db", "--user", "ana") == 0
    with StoredDatabase.open(str(tmp_path / "b.db")) as database:
        key = SessionKey("shop", "ana", "s1")
        assert database.state(key) == {"a": 1}
        assert [(event.id, event.timestamp) for event in database.events(key)] == [("e1", 5.0)]


def test_an_existing_session_is_not_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a.db", said("a"))
    assert run("export", tmp_path / "a.db", tmp_path / "a.jsonl") == 0
    before = (tmp_path / "a.db").read_bytes()
    assert run("import", tmp_path / "a.jsonl", tmp_path / "a.db") == 1
    assert "already has the session 's1' of 'shop', user 'maria'. Nothing was imported." in capsys.readouterr().err
    assert (tmp_path / "a.db").read_bytes() == before


def test_an_existing_file_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a.db", said("a"))
    (tmp_path / "a.html").write_text("mine")
    assert run("export", tmp_path / "a.db", tmp_path / "a.html") == 1
    assert "already exists" in capsys.readouterr().err
    assert read(tmp_path / "a.html") == "mine"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no sessions"),
        ("<html></html>", "no export of Agent Inspector"),
        ("# Notes", "is Markdown, but no export of Agent Inspector"),
        ('{"eval_set_id": "e", "eval_cases": [{"eval_id": "a"}]}', "case 1: it needs a `conversation`"),
        ('{"eval_set_id": "e", "eval_cases": [{"eval_id": "a", "conversation": [{}]}]}', "case 1, turn 1: it needs a `user_content`"),
        ('[{"query": "hi", "expected_tool_use": [{}]}]', "an expected tool use needs its `tool_name`"),
        ("{", "line 1: this is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "a JSON object with a list of `events`"),
        ('{"eval_set_id": "e", "eval_case_results": []}', "the results of an eval, which hold no sessions. Import its eval set"),
        (json.dumps('{"eval_set_id": "e", "eval_case_results": []}'), "the results of an eval, which hold no sessions"),
        ('{"id": "s", "userId": "u", "events": []}', "`appName` is missing. Give it with --app."),
        ('{"id": "s", "userId": "u", "appName": "a", "events": [{"author": "x"}]}', "event 1: an event needs its `id` and `timestamp`"),
        ('{"id": "s", "userId": "u", "appName": "a", "events": [7]}', "event 1: this is not an event."),
        ('{"id": "s", "userId": "u", "appName": "a", "state": [], "events": []}', "`state` must be a JSON object"),
        (
            '{"session": {"id": "s", "app_name": "a", "user_id": "u"}}\n' + '{"id": "e", "author": "x", "timestamp": 1}\n' * 2,
            "line 3: the id 'e' is also another event's",
        ),
    ],
)
def test_a_wrong_file_is_refused_and_nothing_is_created(
    text: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.txt").write_text(text)
    assert run("import", tmp_path / "in.txt", tmp_path / "b.db") == 1
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "b.db").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps locks for each handle")
def test_a_question_about_a_file_drops_no_lock_of_this_process(tmp_path: Path) -> None:
    file = tmp_path / "a.capsule"
    write(file, said("one"))
    stranger = Stranger(file)
    with closing(open_files.connect(file)) as connection:
        connection.execute("SELECT 1 FROM events").fetchall()
        assert not is_capsule(str(file))
        assert read_sessions(str(file)).sessions
        assert stranger.ask("look")
    stranger.close()


@pytest.mark.parametrize(
    ("head", "event", "sentence"),
    [
        ("", '"timestamp": 1e999', "line 2: the `timestamp` inf is no time"),
        ("", '"timestamp": NaN', "line 2: the `timestamp` nan is no time"),
        ("", '"timestamp": ' + "9" * 4_000, "line 2: this is not an event. timestamp"),
        ("", '"timestamp": ' + "9" * 5_000, "line 2: this is not JSON: number out of range"),
        ("", '"timestamp": 1700000000000', "are these milliseconds"),
        (', "create_time": 1e999', '"timestamp": 1', "line 1: the time of the session is no time"),
        (', "create_time": ' + "9" * 400, '"timestamp": 1', "line 1: the time of the session is no time"),
        (', "state": {"a": NaN}', '"timestamp": 1', "state cannot be stored"),
        ("", '"timestamp": 1, "id": "' + "e" * 5_000_000 + '"', "line 2: the `id` is longer than 1,000 characters"),
        (', "id": "' + "s" * 5_000_000 + '"', '"timestamp": 1', "line 1: `id` is longer than 1,000 characters"),
        (', "user_id": "' + "u" * 5_000 + '"', '"timestamp": 1', "line 1: `userId` is longer than 1,000 characters"),
    ],
)
def test_a_value_that_cannot_be_stored_is_a_sentence(
    head: str, event: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = f'{{"session": {{"id": "s", "app_name": "a", "user_id": "u"{head}}}}}\n{{"id": "e", "author": "u", {event}}}\n'
    (tmp_path / "in.jsonl").write_text(lines)
    assert run("import", tmp_path / "in.jsonl", tmp_path / "b.db") == 1
    assert sentence in capsys.readouterr().err


def test_signs_that_only_look_like_ends_of_lines_do_not_end_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg"
    event = {"id": "e", "author": "user", "timestamp": 1.0, "content": {"role": "user", "parts": [{"text": text}]}}
    head = {"session": {"id": "s", "app_name": "a", "user_id": "u"}}
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(one, ensure_ascii=False) + "\r\n" for one in (head, event)), newline="")
    assert run("import", tmp_path / "in.jsonl", tmp_path / "a.db") == 0
    assert run("capsule", tmp_path / "a.db", tmp_path / "a.capsule", "--yes") == 0
    for suffix in ("jsonl", "json", "html", "md"):
        assert run("export", tmp_path / "a.capsule", tmp_path / f"out.{suffix}") == 0
        assert run("import", tmp_path / f"out.{suffix}", tmp_path / f"{suffix}.db") == 0
        capsys.readouterr()
        assert run("events", tmp_path / f"{suffix}.db", "--json") == 0
        assert json.loads(capsys.readouterr().out.split("\n")[0])["content"]["parts"] == [{"text": text}]


def test_files_whose_names_are_no_utf8_are_read_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = tmp_path / os.fsdecode(b"caf\xe9")
    event = '{"id": "e", "author": "u", "timestamp": 1}'
    name.write_text('{"session": {"id": "s", "app_name": "a", "user_id": "u"}}\n' + event)
    database = name.with_suffix(".db")
    assert run("import", name, database) == 0
    for command in ("sessions", "events", "state", "invocations", "doctor", "costs", "notes", "forks"):
        assert run(command, database) == 0
    assert run("capsule", database, name.with_suffix(".capsule"), "--yes") == 0
    assert run("events", name.with_suffix(".capsule")) == 0
    assert run("export", database, name.with_suffix(".html")) == 0
    assert run("recover", database, name.with_suffix(".new")) == 0
    assert run("convert", database, name.with_suffix(".converted")) == 0
    assert run("events", name.with_suffix(".none")) == 1
    assert "There is no file" in capsys.readouterr().err


def test_an_import_takes_little_memory_for_each_event(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        file = tmp_path / f"{count}.jsonl"
        events = (Event(id=f"e{n}", author="clerk", invocation_id="i1", timestamp=float(n)).model_dump_json() for n in range(count))
        file.write_text("\n".join(['{"session": {"id": "s", "app_name": "a", "user_id": "u"}}', *events]))
        tracemalloc.start()
        try:
            assert read_sessions(str(file)).events == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)
    assert peak(3_000) - peak(1_000) < 2_000 * 1_000, "an event takes 6 KB, and its JSON 300 bytes"
