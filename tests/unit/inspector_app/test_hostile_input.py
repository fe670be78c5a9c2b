"""Every door from outside × what may come through it: a value or one sentence, never a traceback, and bounded memory."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from inspector_app.analysis.eval_criteria import read_criteria
from inspector_app.cli import main
from inspector_app.engines import running_apps
from inspector_app.exchange.capsule import PARTS, CapsuleError, read_capsule
from inspector_app.exchange.eval_sets import read_eval_set
from inspector_app.exchange.imported_sessions import read_sessions
from inspector_app.mcp_server.database_tools import database_tools
from inspector_app.mcp_server.places import Places
from inspector_app.mcp_server.reading_tools import reading_tools
from inspector_app.mcp_server.tool import WrongArgumentError
from inspector_app.remote.adk_server import AdkServer
from inspector_app.remote.server_address import server_address
from inspector_app.resources.plugins import recorder_plugin
from inspector_app.support.otlp import spans_of_json
from inspector_app.support.preferences import Preferences
from runtime.errors import KnownError
from runtime.sessions.session_key import SessionKey
from runtime.storage.recordings.recorded_call import RecordedModelCall
from runtime.storage.recordings.recording import Recording
from tests.sweep import count

HEAD = b'{"session": {"id": "s", "app_name": "a", "user_id": "u"}}\n'

TEXTS: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\n\t",
    "only a mark": b"\xef\xbb\xbf",
    "null": b"null",
    "a number": b"7",
    "a text": b'"a"',
    "half": b'{"a":',
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "wide": b"[" + b"[]," * 2_500_000 + b"[]]",
    "wide objects": b"[" + b"{}," * 2_500_000 + b"{}]",
    "many digits": b"1" * 1_000_000,
    "a digit too many": b'{"a": ' + b"9" * 5_000 + b"}",
    "infinite": b'{"a": 1e999, "b": -1e999, "c": NaN}',
    "half a pair": rb'{"\ud83d": "\udfff"}',
    "Latin-1": b'{"a": "caf\xe9"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "NUL bytes": bytes(10_000),
    "a page": b"<html>" * 1_000,
    "a heading": b"# hello\n",
    "keys of one name": b"{" + b",".join([b'"a": 1'] * 10_000) + b"}",
    "a ZIP's beginning": b"PK\x03\x04" + bytes(100),
    "lines of lists": HEAD + b"[]\n" * 10_000,
    "lines of nonsense": HEAD + b"x\n",
    "separators of lines": HEAD + '{"id": "e", "timestamp": 1, "author": "\u2028\u2029\u0085\x0b\x0c\x1c"}\n'.encode(),
}


def capsule(file: Path, **parts: bytes) -> Path:
    """Write a capsule with other contents in some of its parts."""
    about = json.dumps({"format": 1, "app_name": "a", "session_id": "s"}).encode()
    texts = dict(zip(PARTS, (about, HEAD, b"[]", b"[]"), strict=True)) | {name.replace("_", "."): text for name, text in parts.items()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return file


def in_capsule(part: str) -> Callable[[Path], object]:
    return lambda file: read_capsule(capsule(file.with_suffix(".capsule"), **{part: file.read_bytes()}))


def from_server(ask: Callable[[AdkServer], object]) -> Callable[[Path], object]:
    def door(file: Path) -> object:
        body = file.read_bytes()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        with answering(head.encode() + body) as address, closing(AdkServer(server_address(address))) as server:
            return ask(server)

    return door


def attached(file: Path) -> object:
    """List the running apps, one of which answers with the file's content."""
    folder = running_apps.runtime_folder()
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, folder / "1-1.json")
    (folder / "1-1.json").chmod(0o600)
    with answering(file.read_bytes() + b"\n") as address:
        port = int(address.rpartition(":")[2])
        named = folder / "2-2.json"
        named.write_text(json.dumps({"pid": os.getppid(), "port": port, "token": "t", "apps": ["mine"]}))
        named.chmod(0o600)
        found = running_apps.running_apps()
    assert [app.name for app in found][-1:] == ["mine"] or found[-1].answers
    return found


@contextmanager
def answering(data: bytes) -> Iterator[str]:
    """Answer each connection with the same bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    try:
                        connection.recv(65_536)
                        connection.sendall(data)
                        connection.shutdown(socket.SHUT_WR)
                        while connection.recv(65_536):
                            pass
                    except OSError:
                        continue

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def recorded(file: Path) -> list[RecordedModelCall]:
    """Return the calls of a recording."""
    with closing(Recording(file)) as recording:
        return recording.model_calls(KEY)


KEY = SessionKey("a", "u", "s")
ASKED: dict[str, Callable[[AdkServer], object]] = {
    "a server's list": AdkServer.listed,
    "a server's session": lambda server: server.session(KEY),
    "a server's agents": lambda server: server.described("a"),
    "a server's new session": lambda server: server.create_session("a", "u"),
}
DOORS: dict[str, Callable[[Path], object]] = {
    "import": lambda file: read_sessions(str(file)),
    "eval set": read_eval_set,
    "eval criteria": read_criteria,
    "capsule": read_capsule,
    "capsule.json": in_capsule("capsule_json"),
    "session.jsonl": in_capsule("session_jsonl"),
    "requests.json": in_capsule("requests_json"),
    "artifacts.json": in_capsule("artifacts_json"),
    "traces": lambda file: spans_of_json(file.read_bytes()),
    "preferences": lambda file: (Preferences(file).theme, Preferences(file).filters),
    "recording": lambda file: recorded(file),
    **{name: from_server(ask) for name, ask in ASKED.items()},
    "a running app": attached,
}


@pytest.mark.logs("preferences")
@pytest.mark.parametrize("name", TEXTS)
def test_every_door_gives_a_value_or_a_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    file = tmp_path / "given.json"
    for door, read in DOORS.items():
        file.write_bytes(TEXTS[name])
        try:
            read(file)
        except KnownError as error:
            assert "\n" not in str(error), door
            assert len(str(error)) < 1_000, door


FILE_DOORS = ("import", "eval set", "eval criteria", "capsule", "preferences")


@pytest.mark.parametrize("door", FILE_DOORS)
def test_special_files_are_not_opened(door: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "round").symlink_to("round")
    said = dict.fromkeys(("fifo", "link", "zero"), "it is a special file") | {"round": "Too many levels", ".": "it is a folder"}
    for name, reason in said.items():
        caplog.clear()
        if door == "preferences":
            DOORS[door](tmp_path / name)
            assert reason in caplog.text
        else:
            with pytest.raises(KnownError, match=f"{re.escape(str(tmp_path / name))}.*{reason}"):
                DOORS[door](tmp_path / name)


def test_an_app_says_only_so_much_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    said = {"type": "running", "apps": ["a" * 2_000] * 25, "place": "p" * 2_000, "engine": "e" * 2_000}
    (tmp_path / "given.json").write_text(json.dumps(said))
    (found,) = attached(tmp_path / "given.json")  # type: ignore[misc]
    assert (len(found.apps), {len(text) for text in (*found.apps, found.place, found.engine)}) == (20, {1_000})


def test_a_special_file_named_as_a_capsule_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "x.capsule")
    for command, *rest in (["events"], ["state"], ["sessions"], ["doctor"], ["notes"], ["import", str(tmp_path / "new.db")]):
        assert main([command, str(tmp_path / "x.capsule"), *rest]) == 1
        assert "x.capsule" in capsys.readouterr().err


WRONG: tuple[Any, ...] = (None, 5, -1, 1e999, 10**400, True, "x", "", "\ud800", [], [5], {}, {"a": 5}, [[]], "9" * 5_000)
EVENT = {
    "id": "e", "author": "user", "timestamp": 1.0, "invocationId": "i", "content": {"role": "user", "parts": [{"text": "hi"}]},
    "actions": {"stateDelta": {"k": 1}, "artifactDelta": {"f": 0}}, "longRunningToolIds": ["c"], "usageMetadata": {"totalTokenCount": 1},
}  # fmt: skip
SESSION = {"id": "s", "appName": "a", "userId": "u", "state": {"k": 1}, "events": [EVENT], "lastUpdateTime": 1.0, "create_time": 1.0}
CASE = {
    "eval_id": "c", "creation_timestamp": 1.0, "session_input": {"app_name": "a", "user_id": "u", "state": {}},
    "conversation": [{
        "invocation_id": "i", "user_content": EVENT["content"], "final_response": EVENT["content"], "creation_timestamp": 1.0,
        "intermediate_data": {
            "tool_uses": [{"name": "f", "args": {}}], "tool_responses": [{"name": "f", "response": {}}],
            "intermediate_responses": [["agent", [{"text": "x"}]]],
        },
    }, {
        "user_content": EVENT["content"],
        "intermediate_data": {"invocation_events": [{"author": "agent", "content": EVENT["content"]}]},
    }],
}  # fmt: skip
OLD_CASE = {
    "name": "n", "initial_session": {"state": {}, "app_name": "a"},
    "data": [{
        "query": "q", "expected_tool_use": [{"tool_name": "t", "tool_input": {}}], "reference": "r",
        "expected_intermediate_agent_responses": [{"author": "a", "text": "t"}],
    }],
}  # fmt: skip
SPAN = {
    "traceId": "t", "spanId": "s", "name": "n", "startTimeUnixNano": "1", "endTimeUnixNano": 2, "status": {"code": 2, "message": "m"},
    "attributes": [{"key": "k", "value": {"stringValue": "v"}}, {"key": "l", "value": {"arrayValue": {"values": [{"intValue": "1"}]}}}],
}  # fmt: skip
AGENTS = {
    "rootAgentName": "a",
    "agents": {"a": {"description": "d", "subAgents": ["b"], "tools": [{"functionDeclarations": [{"name": "f"}]}]}, "b": {}},
}
RIGHT: dict[str, tuple[Any, tuple[str, ...]]] = {
    "a session": (SESSION, ("import", "a server's session")),
    "a list of sessions": ([SESSION], ("a server's list", "a server's session")),
    "an eval set": ({"eval_set_id": "s", "eval_cases": [CASE]}, ("eval set", "import")),
    "an old eval set": ([OLD_CASE], ("eval set", "import")),
    "criteria": (
        {"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": 0}, "x": 1}},
        ("eval criteria",),
    ),
    "a trace": ({"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}, ("traces",)),
    "agents": (AGENTS, ("a server's agents",)),
    "an app": ({"type": "running", "apps": ["mine"], "place": "p", "engine": "e", "attached_by": 1}, ("a running app",)),
    "a capsule's head": ({"format": 1, "app_name": "a", "session_id": "s", "agent": {}, "replaced": []}, ("capsule.json",)),
    "requests": ([{"event_id": "e", "request": {}}], ("requests.json", "artifacts.json")),
}


def changed(found: Any) -> Iterator[Any]:
    """Yield copies of JSON data in which one place holds something else, or is missing."""
    yield from WRONG
    if isinstance(found, dict):
        for key in found:
            yield {name: item for name, item in found.items() if name != key}
            for other in changed(found[key]):
                yield found | {key: other}
    elif isinstance(found, list):
        for index, item in enumerate(found):
            for other in changed(item):
                yield [*found[:index], other, *found[index + 1 :]]


@pytest.mark.sweep
@pytest.mark.parametrize("name", RIGHT)
def test_one_wrong_value_anywhere_is_a_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    right, doors = RIGHT[name]
    file = tmp_path / "given.json"
    for door in doors:
        step = count(3 if door in FILE_DOORS or door == "traces" else 20, 1)
        for number, wrong in enumerate([right, *changed(right)][::step]):
            file.write_bytes(json.dumps(wrong).encode())
            try:
                DOORS[door](file)
            except KnownError as error:
                assert number > 0 or "server" in door, error
                assert "\n" not in str(error)


BOMBS: dict[str, tuple[str, Callable[[Path], object]]] = {}


def bomb(door: str) -> Callable[[Callable[[Path], object]], Callable[[Path], object]]:
    def keep(write: Callable[[Path], object]) -> Callable[[Path], object]:
        BOMBS[write.__name__] = (door, write)
        return write

    return keep


@bomb("capsule")
def a_capsule_of_objects(file: Path) -> None:
    capsule(file, requests_json=b"[" + b"{}," * 30_000_000 + b"{}]")


@bomb("capsule")
def a_capsule_of_small_events(file: Path) -> None:
    capsule(file, session_jsonl=HEAD + b"".join(b'{"id":"%x","timestamp":1}\n' % number for number in range(1_000_000)))


@bomb("capsule")
def a_capsule_with_an_emoji(file: Path) -> None:
    capsule(file, artifacts_json=b'["' + b"a" * 110_000_000 + "😀".encode() + b'"]')


@bomb("capsule")
def a_capsule_of_many_files(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(100_000):
            archive.writestr(zipfile.ZipInfo(str(number)), b"")


@bomb("import")
def a_list_of_lists(file: Path) -> None:
    file.write_bytes(b"[" + b"[]," * 35_000_000 + b"[]]")


@bomb("import")
def small_events(file: Path) -> None:
    file.write_bytes(HEAD + b"".join(b'{"id":"%x","timestamp":1}\n' % number for number in range(1_000_000)))


@bomb("eval set")
def an_eval_set_of_lists(file: Path) -> None:
    file.write_bytes(b'{"eval_cases": [' + b"[]," * 35_000_000 + b"[]]}")


@bomb("traces")
def traces_of_objects(file: Path) -> None:
    file.write_bytes(b'{"resourceSpans": [' + b"{}," * 35_000_000 + b"{}]}")


@bomb("preferences")
def preferences_of_lists(file: Path) -> None:
    file.write_bytes(b'{"x": [' + b"[]," * 35_000_000 + b"[]]}")


def recording_of(file: Path, number: int, answered: str) -> None:
    """Write a recording of calls that have the same answer."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(recorder_plugin._TABLES)
        connection.execute("INSERT INTO inspector_recording VALUES ('format', '2')")
        calls = (
            (each + 1, *KEY, "i", None, "a", "m", f"e{each}", 1.0, 1.0, 1.0, None, None, None, 0, "[]", None, None, answered, 0)
            for each in range(number)
        )
        connection.executemany(f"INSERT INTO inspector_model_calls VALUES ({', '.join('?' * 21)})", calls)
        connection.commit()


@bomb("recording")
def a_recording_of_lists(file: Path) -> None:
    recording_of(file, 6, '{"a": [' + "[]," * 3_000_000 + "[]]}")


@bomb("recording")
def a_recording_of_many_calls(file: Path) -> None:
    recording_of(file, 400_000, "{}")


@bomb("recording")
def a_recording_with_a_long_name(file: Path) -> None:
    recording_of(file, 1, "{}")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE inspector_model_calls SET agent = zeroblob(400000000)")
        connection.commit()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("again", ["capsule.json", "session.jsonl", "other"])
def test_a_capsule_with_two_parts_of_one_name_is_refused(again: str, tmp_path: Path) -> None:
    file = capsule(tmp_path / "x.capsule")
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(again, b"{}")
        archive.writestr(again, b"{}")
    with pytest.raises(CapsuleError, match="two parts of one name"):
        read_capsule(file)


@pytest.mark.parametrize("size", [0, 1, 0xFFFFFFF0, 0xFFFFFFFF])
def test_a_capsule_that_lies_about_its_sizes_is_read_or_refused(size: int, tmp_path: Path) -> None:
    file = capsule(tmp_path / "x.capsule")
    data, place = bytearray(file.read_bytes()), 0
    while (place := data.find(b"PK\x01\x02", place + 1)) > 0:
        data[place + 24 : place + 28] = struct.pack("<I", size)
    file.write_bytes(data)
    if size < 2:
        with pytest.raises(CapsuleError, match="damaged"):
            read_capsule(file)
    else:
        assert read_capsule(file).about["session_id"] == "s"


@pytest.mark.parametrize("sizes", [(0, 0), (2**62, 2**62), (2**64 - 1, 2**64 - 1)])
def test_a_capsule_that_lies_about_sizes_of_64_bits_is_read_or_refused(
    sizes: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1)  # so that they are written
    file = capsule(tmp_path / "x.capsule")
    data, place = bytearray(file.read_bytes()), 0
    while (place := data.find(b"PK\x01\x02", place + 1)) > 0:
        extra = place + 46 + struct.unpack_from("<H", data, place + 28)[0]
        assert struct.unpack_from("<H", data, extra) == (1,)
        struct.pack_into("<QQ", data, extra + 4, *sizes)
    file.write_bytes(data)
    if sizes == (0, 0):
        with pytest.raises(CapsuleError, match="damaged"):
            read_capsule(file)
    else:
        assert read_capsule(file).about["session_id"] == "s"


def test_a_file_in_a_capsule_may_have_half_a_surrogate_pair_in_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = json.dumps([{"filename": "a\ud800", "version": 0, "part": {"text": "x"}}])
    assert main(["events", str(capsule(tmp_path / "x.capsule", artifacts_json=one.encode()))]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("given", ["\ud800", "a\udfff", "\ud83d \ude00"])
def test_a_tool_refuses_halves_of_surrogate_pairs(given: str) -> None:
    for tool in (*reading_tools(Places(())), *database_tools(Places(()))):
        for name, each in tool.parameters.items():
            needed = {other: "x" for other, one in tool.parameters.items() if one.is_needed}
            if each.kind != "integer":
                value = given if each.kind == "string" else {"k": [given]}
                with pytest.raises(WrongArgumentError, match=f"'{name}' has half a surrogate pair"):
                    tool.checked(needed | {name: value})
        with pytest.raises(WrongArgumentError) as error:
            tool.checked({given: 1})
        str(error.value).encode()


@bomb("a server's list")
def an_answer_of_lists(file: Path) -> None:
    file.write_bytes(b"[" + b"[]," * 35_000_000 + b"[]]")


@bomb("a server's agents")
def agents_that_share_agents(file: Path) -> None:
    agents = {f"{side}{level}": {"subAgents": [f"a{level + 1}", f"b{level + 1}"]} for side in "ab" for level in range(40)}
    file.write_text(json.dumps({"rootAgentName": "a0", "agents": agents}))


MEASURE = """
import re, sys
from pathlib import Path
from runtime.errors import KnownError
from tests.unit.inspector_app import test_hostile_input as hostile

def status(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

door, file, *address = sys.argv[1:]
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
try:
    if address:  # the bytes that a server sends are another process's
        hostile.ASKED[door](hostile.AdkServer(hostile.server_address(*address)))
    else:
        hostile.DOORS[door](Path(file))
except KnownError as error:
    print(error, file=sys.stderr)
print((status("VmHWM") - before) // 1024)
"""


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", count(["a_capsule_of_objects", "small_events"], list(BOMBS)))
def test_a_bomb_takes_no_more_memory_than_allowed(name: str, tmp_path: Path) -> None:
    door, write = BOMBS[name]
    file = tmp_path / "bomb.capsule"
    write(file)
    words = [sys.executable, "-c", MEASURE, door, str(file)]
    if "server" in door:
        body = file.read_bytes()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        with answering(head.encode() + body) as address:
            done = subprocess.run([*words, address], capture_output=True, text=True, timeout=100, check=True)
    else:
        done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True)
    assert int(done.stdout) <= 256, done.stderr


ROOT = Path(__file__).parents[3]
COMMANDS = {
    "capsule": ["events", "FILE"],
    "import": ["import", "FILE", "new.db"],
    "eval set": ["eval", str(ROOT / "resources/samples/orders"), "FILE"],
    "recording": ["capsule", "ours.db", "new.capsule", "--yes"],
    "preferences": ["costs", "ours.db"],
    "a server's list": ["sessions", "URL"],
}
READ_BY_COMMANDS = [name for name, (door, _) in BOMBS.items() if door in COMMANDS]


def used(pid: int, *, of_children: bool = False) -> float:
    """Return the seconds of processor time that a process has used, or its ended children: those of the clock depend on the load."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[13:15] if of_children else fields[11:13])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.sweep
@pytest.mark.timeout(3_600)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", count(["a_capsule_of_objects", "small_events", "an_answer_of_lists"], READ_BY_COMMANDS))
def test_a_signal_ends_a_command_that_reads_a_bomb(name: str, tmp_path: Path) -> None:
    door, write = BOMBS[name]
    file = tmp_path / {"preferences": "preferences.json", "recording": "ours.rec.db"}.get(door, "bomb.capsule")
    shutil.copy(ROOT / "tests/data/ours.db", tmp_path)
    write(file)
    words = [str(file) if word == "FILE" else word for word in COMMANDS[door]]
    with ExitStack() as stack:
        if "URL" in words:
            body = file.read_bytes()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            words[words.index("URL")] = stack.enter_context(answering(head.encode() + body))
        env = os.environ | {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
        for moment in count([0.8], [0.5 + step / 3 for step in range(8)]):  # seconds of processor time, while it reads
            for number in (signal.SIGTERM, signal.SIGINT):
                process = subprocess.Popen(
                    [sys.executable, "-m", "inspector_app", *words], cwd=tmp_path, env=env, stdout=-1, stderr=-1, text=True
                )
                while process.poll() is None and (at := used(process.pid)) < moment:
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(0.02)
                before = used(os.getpid(), of_children=True)
                process.send_signal(number)
                output, errors = process.communicate(timeout=10)
                if process.returncode not in (0, 1, -number):  # it had not ended before, and Python itself did not begin or end
                    assert (process.returncode, output, errors) == (128 + number, "", "")
                    assert used(os.getpid(), of_children=True) - before - at < 1, f"{number} at {moment} s"
                for new in tmp_path.glob("new.*"):
                    new.unlink()
