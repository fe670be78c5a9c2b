"""Bug capsules: made here, opened without the agent, replayed, compared, and as a test of the agent."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from inspector_app.cli import main
from inspector_app.documents.session_files import files_of
from inspector_app.engines.samples import is_bundled
from inspector_app.exchange.capsule_session import unpack
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir
from tests.unit.resources.test_redaction import CASES

pytestmark = pytest.mark.usefixtures("prepared_pythons")

CLERK = Path(__file__).parents[3] / "data" / "evals" / "clerk"


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CLERK, tmp_path / "clerk"))


@pytest.fixture
def database(agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    file = tmp_path / "a.db"
    for message in ("my password: hunter22 Tell me the price", "Order chain"):
        words = ["run", str(agent), "--engine", "embedded", "--message", message, "--db", str(file), "--session", "s1"]
        assert main([*words, "--state", '{"plan": "gold"}']) == 0
    capsys.readouterr()
    return file


@pytest.fixture
def made(agent: Path, database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    file = tmp_path / "bug.capsule"
    words = ["capsule", str(database), str(file), "--agent", str(agent), "--pytest", str(tmp_path / "test_bug.py"), "--json"]
    assert main(words) == 0
    told = capsys.readouterr()
    facts = json.loads(told.out)
    assert (facts["events"], facts["requests"], facts["divergences"]) == (10, 5, [])
    assert len(facts["replaced"]) == 1 and facts["replaced"][0].endswith("/content/parts/0/text")
    assert f"replaced: {facts['replaced'][0]}\n" in told.err
    return file


def test_it_opens_replays_and_compares_without_the_agent(
    made: Path, agent: Path, database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(agent)
    assert main(["state", str(made), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["session"] == {"plan": "gold"}
    new = tmp_path / "new.db"
    assert main(["run", str(made), "--db", str(new), "--session", "again"]) == 0
    capsys.readouterr()
    assert main(["compare", str(made), str(new), "--session", "s1", "--session", "again"]) == 0
    assert "= 10 equal" in capsys.readouterr().out
    assert main(["compare", str(database), str(new), "--session", "s1", "--session", "again"]) == 1  # only the password is different


def test_no_secret_is_in_a_capsule(made: Path) -> None:
    with zipfile.ZipFile(made) as file:
        assert all(b"hunter22" not in file.read(name) for name in file.namelist())


def test_files_come_along_without_their_secrets(database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {"app_name": "clerk", "user_id": "user", "session_id": "s1"}
    texts = {
        "note.txt": types.Part(text="token sk-proj-" + "a7" * 30),
        "user:plain.txt": types.Part.from_bytes(data=b"x", mime_type="image/png"),
    }
    texts["key.txt"] = types.Part.from_bytes(data=b"password: hunter22", mime_type="text/plain")

    async def save() -> None:
        for name, part in texts.items():
            await files_of(str(database)).save_artifact(**names, filename=name, artifact=part)

    asyncio.run(save())
    assert main(["capsule", str(database), str(tmp_path / "a.capsule"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["artifacts"] == 3
    assert [place for place in facts["replaced"] if place.startswith("file")] == ["file key.txt, version 0", "file note.txt, version 0"]
    (tmp_path / "open").mkdir()
    new, _ = unpack(tmp_path / "a.capsule", tmp_path / "open")

    async def load(name: str) -> types.Part | None:
        return await files_of(str(new)).load_artifact(**names, filename=name)

    note, key, plain = (asyncio.run(load(name)) for name in ("note.txt", "key.txt", "user:plain.txt"))
    assert note is not None and note.text == "token (redacted)"
    assert key is not None and key.inline_data is not None and key.inline_data.data == b"password: (redacted)"
    assert plain == texts["user:plain.txt"]


def test_200_planted_secrets_are_replaced(tmp_path: Path, agent: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps({f"k{number}": value for number, (_, value) in enumerate(CASES)}))
    words = ["run", str(agent), "--engine", "embedded", "--message", "Say hello", "--db", str(tmp_path / "a.db")]
    assert main([*words, "--state", (tmp_path / "state.json").read_text()]) == 0
    assert main(["capsule", str(tmp_path / "a.db"), str(tmp_path / "a.capsule")]) == 0
    with zipfile.ZipFile(tmp_path / "a.capsule") as file:
        text = "".join(file.read(name).decode() for name in file.namelist())
    assert [secret for secret, _ in CASES if secret in text or json.dumps(secret)[1:-1] in text] == []


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("", "", ""),
        ('instruction="Help."', 'instruction="Help a lot."', "Model call 1 of clerk asks something else than was recorded"),
        ('"price": 3.2', '"price": 4.2', "another result price than was recorded"),
        ('"""Return an item\'s price."""', '"""Return what an item costs."""', "Model call 1 of clerk asks something else"),
        ("tools=[price, stock, order]", "tools=[price, order]", ""),
    ],
    ids=["unchanged", "instruction", "tool's result", "tool's description", "tool removed"],
)
def test_its_test_fails_when_the_agent_changes(old: str, new: str, sentence: str, made: Path, agent: Path, tmp_path: Path) -> None:
    code = (agent / "agent.py").read_text("utf-8")
    assert old in code
    (agent / "agent.py").write_text(code.replace(old, new), "utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "test_bug.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == (0 if old == new else 1), done.stdout + done.stderr
    assert sentence in done.stdout


def test_its_agent_has_no_code_of_others(made: Path, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    _, folder = unpack(made, tmp_path / "open")
    assert is_bundled(folder)
    (folder / "agent.py").write_text("import os", "utf-8")
    assert not is_bundled(folder)


def rewritten(made: Path, out: Path, **parts: bytes) -> Path:
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, parts.get(name.replace(".", "_"), old.read(name)))
    return out


@pytest.mark.parametrize(
    "parts",
    [
        {"capsule_json": b"[]"},
        {"capsule_json": b'{"format": 9}'},
        {"session_jsonl": b"{"},
        {"requests_json": b"7"},
        {"session_jsonl": b"[" * 99_999},
        {"session_jsonl": b"[]"},
        {"capsule_json": b'{"format": 1, "started": {"state": []}}'},
        {"capsule_json": b'{"format": 1, "started": {"others": [{"place": 1}]}}'},
        {"capsule_json": b'{"format": 1, "started": 7}'},
        {"capsule_json": b'{"format": 1, "asked": [{"agent": "a"}]}'},
    ],
)
def test_a_damaged_capsule_is_one_sentence(parts: dict[str, Any], made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = rewritten(made, tmp_path / "d.capsule", **parts)
    capsys.readouterr()
    assert main(["events", str(damaged)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_part_that_unpacks_to_too_much_is_refused(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("inspector_app.exchange.capsule.MOST_BYTES", 1_000)
    assert main(["events", str(made)]) == 1
    assert "more than 1,000 bytes" in capsys.readouterr().err


def test_wrong_use_is_refused(database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capsule", str(database), str(tmp_path / "a.zip")]) == 2
    assert main(["capsule", str(database), str(tmp_path / "a.capsule"), "--pytest", str(tmp_path / "t.py")]) == 2
    (tmp_path / "a.capsule").write_text("mine")
    assert main(["capsule", str(database), str(tmp_path / "a.capsule")]) == 1
    assert "already exists" in capsys.readouterr().err
    assert (tmp_path / "a.capsule").read_text() == "mine"


def test_a_slice_keeps_the_state_before_it_and_replays(database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["events", str(database), "--json"]) == 0
    ids = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    file = tmp_path / "slice.capsule"
    assert main(["capsule", str(database), str(file), "--first", ids[4], "--last", ids[9], "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["events"], facts["requests"], facts["replaced"]) == (6, 3, [])
    assert main(["events", str(file), "--json"]) == 0
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == ids[4:]
    assert main(["state", str(file), "--at", ids[4], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["session"] == {"plan": "gold"}
    new = tmp_path / "new.db"
    assert main(["run", str(file), "--db", str(new), "--session", "again"]) == 0
    capsys.readouterr()
    assert main(["compare", str(file), str(new), "--session", "s1", "--session", "again"]) == 0


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("--first", "zz"), 1, "no event"),
        (("--first", "LAST", "--last", "FIRST"), 2, "--first names an event that comes after that of --last."),
    ],
)
def test_a_wrong_slice_is_refused(
    words: tuple[str, ...], status: int, sentence: str, database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["events", str(database), "--json"]) == 0
    ids = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    given = [{"FIRST": ids[0], "LAST": ids[-1]}.get(word, word) for word in words]
    assert main(["capsule", str(database), str(tmp_path / "a.capsule"), *given]) == status
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "a.capsule").exists()


@pytest.mark.parametrize(
    "name",
    [
        "2.13.0-sqlite-lro_in_sequence-after",
        "2.13.0-sqlite-lro_in_parallel-after",
        "2.13.0-v1-confirm_in_sequence-after",
        "1.39.1-v1-lro_plain-after",
        "1.14.1-v0-confirm_plain-after",
        "2.13.0-sqlite-confirm_resumable-before",
        "2.13.0-sqlite-seq_crash_tool-before",
        "2.13.0-sqlite-errors",
        "2.13.0-sqlite-rewind",
    ],
)
def test_a_capsule_ends_as_its_session_did(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = str(fixtures_dir() / "open" / f"adk{name}.db")
    with StoredDatabase.open(database) as stored:
        key = stored.listing()[0].key
        ended = [one.status for one in stored.invocations(key) if one.reason != "took back earlier invocations"]
    words = ["--app", key.app_name, "--user", key.user_id, "--session", key.session_id]
    assert main(["capsule", database, str(tmp_path / "a.capsule"), *words]) == 0
    capsys.readouterr()
    status = main(["run", str(tmp_path / "a.capsule"), "--json"])
    run = json.loads(capsys.readouterr().out.splitlines()[-1])["run"]
    assert (run["status"], status) == (ended[-1], {"finished": 0, "interrupted": 1, "paused": 3}[ended[-1]])


READER = '''
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Script(BaseLlm):
    model: str = "script"

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[0]
        call = types.Part(function_call=types.FunctionCall(name="count", args={}))
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="ok") if last.function_response else call]))


def count(tool_context) -> dict:
    """Count the sessions' messages."""
    state = tool_context.state
    state["app:messages"] = state.get("app:messages", 0) + 1
    state["user:names"] = [*state.get("user:names", []), tool_context.session.id]
    return {"messages": state["app:messages"], "names": state["user:names"], "plan": state.get("plan")}


root_agent = LlmAgent(name="reader", model=Script(), instruction="{app:messages?} {user:names?} {plan?}", tools=[count])
'''


ENGINES_AND_STARTS = [(None, 4), ("INSPECTOR_ADK_PYTHON", None)]
if os.environ.get("INSPECTOR_SOAK"):
    ENGINES_AND_STARTS = [(python, first) for python in (None, "INSPECTOR_ADK_PYTHON", "INSPECTOR_ADK_1_PYTHON") for first in (None, 4)]


@pytest.mark.parametrize(("python", "first"), ENGINES_AND_STARTS)
def test_its_test_passes_with_what_other_sessions_wrote(
    python: str | None, first: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, database = tmp_path / "reader", str(tmp_path / "a.db")
    folder.mkdir()
    if python is not None and python not in os.environ:
        pytest.skip(f"{python} is not set")
    engine = ["--engine", "embedded"] if python is None else ["--python", os.environ[python]]
    (folder / "agent.py").write_text(READER, "utf-8")
    for number, session in enumerate(("s0", "s1", "s0", "s0", "s1")):
        state = ["--state", '{"plan": "gold"}'] if number == 1 else []
        assert main(["run", str(folder), *engine, "--message", "go", "--db", database, "--session", session, *state]) == 0
    capsys.readouterr()
    assert main(["events", database, "--session", "s1", "--json"]) == 0
    ids = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    words = ["--session", "s1", "--agent", str(folder), "--json", *([] if first is None else ["--first", ids[first]])]

    def written(name: str) -> dict[str, Any]:
        assert main(["capsule", database, str(tmp_path / f"{name}.capsule"), "--pytest", str(tmp_path / f"test_{name}.py"), *words]) == 0
        facts: dict[str, Any] = json.loads(capsys.readouterr().out)
        return facts

    facts = written("a")
    assert (facts["test_fails"], facts["divergences"]) == (None, [])
    (folder / "agent.py").write_text(READER.replace("+ 1", "+ 2"), "utf-8")
    assert "another result count than was recorded" in written("b")["test_fails"]
