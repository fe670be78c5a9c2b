"""Bug capsules: made here, opened without the agent, replayed, compared, and as a test of the agent."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main
from inspector_app.engines.samples import is_bundled
from inspector_app.exchange.capsule_session import unpack
from tests.unit.resources.test_redaction import CASES

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
    assert "would be larger than 1,000 bytes" in capsys.readouterr().err


def test_wrong_use_is_refused(database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capsule", str(database), str(tmp_path / "a.zip")]) == 2
    assert main(["capsule", str(database), str(tmp_path / "a.capsule"), "--pytest", str(tmp_path / "t.py")]) == 2
    (tmp_path / "a.capsule").write_text("mine")
    assert main(["capsule", str(database), str(tmp_path / "a.capsule")]) == 1
    assert "already exists" in capsys.readouterr().err
    assert (tmp_path / "a.capsule").read_text() == "mine"
