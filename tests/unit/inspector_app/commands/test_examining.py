"""`agent-inspector doctor`: which engine runs an agent, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector_app.cli import main
from inspector_app.engines.stand_in import CODE as STAND_IN
from inspector_app.engines.stand_in import write_stand_in
from tests.unit.inspector_app.engines.test_engine_choice import ADK, OURS, agent, environment


@pytest.fixture(autouse=True)
def no_active_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)


def test_the_decision_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix = environment(tmp_path / ".venv", adk="2.13.0")
    folder = agent(tmp_path / "clerk", ADK)
    (folder / ".env").write_text("GOOGLE_API_KEY=s3cret\n")
    assert main(["doctor", str(folder)]) == 0
    out = capsys.readouterr().out
    assert f"Chosen: Python 3.11.4 with google-adk 2.13.0 ({prefix}/bin/python), from .venv." in out
    assert f"{folder}/.env sets GOOGLE_API_KEY." in out
    assert "s3cret" not in out


def test_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment(tmp_path / ".venv", adk="2.13.0")
    folder = agent(tmp_path / "clerk", ADK)
    assert main(["doctor", str(folder), "--json", "--engine", "embedded"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["engine"], printed["adk_version"], printed["source"]) == ("embedded", "2.13.0", ".venv")
    assert {"source": ".venv", "found": printed["searched"][0]["found"]} == printed["searched"][0]


def test_the_command_that_installs_google_adk_is_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = agent(tmp_path / "the clerk", ADK)
    (folder / "requirements.txt").write_text("google-adk\n")
    assert main(["doctor", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "Installers run code of the packages.\n    $ cd '" in out
    assert out.endswith("-m pip install google-adk 'sqlalchemy[asyncio]<3' -r requirements.txt\n")
    assert main(["doctor", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["install"] == out.splitlines()[-1].removeprefix("    $ ")
    assert sorted(place.name for place in folder.iterdir()) == ["agent.py", "requirements.txt"]


@pytest.mark.parametrize("options", [["--engine", "embedded"], ["--engine", "embedded-process"]])
def test_for_an_agent_that_needs_no_google_adk_no_command_is_printed(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", str(agent(tmp_path / "clerk", ADK)), *options]) == 0
    assert main(["doctor", str(agent(tmp_path / "ours", OURS))]) == 0
    assert "pip" not in capsys.readouterr().out


def test_why_google_adk_cannot_be_installed_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = agent(tmp_path / "clerk", ADK)
    (folder / ".venv").mkdir()
    assert main(["doctor", str(folder)]) == 0
    assert f"{folder / '.venv'} exists, and has no Python." in capsys.readouterr().out
    assert main(["doctor", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["install"] is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--engine", "adk"], "has no google-adk"),
        (["--python", "/nowhere"], "There is no Python at"),
        (["--engine", "x"], "is not an engine"),
    ],
)
def test_what_cannot_be_chosen_is_refused(options: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = agent(tmp_path / "clerk", ADK)
    assert main(["doctor", str(folder), *options]) != 0
    assert expected in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize(
    ("code", "adk", "options", "chosen"),
    [
        (ADK, None, [], "the embedded runtime, because no environment has google-adk. Name one with --python."),
        (ADK, None, ["--engine", "embedded"], "the embedded runtime, because the engine embedded was named."),
        (ADK, "2.13.0", ["--engine", "embedded"], "the embedded runtime, because the engine embedded was named."),
        (ADK, None, ["--engine", "embedded-process"], "the embedded runtime, because the engine embedded-process was named."),
        (ADK, "2.13.0", ["--engine", "embedded-process"], "the embedded runtime, because the engine embedded-process was named."),
        (ADK, "2.13.0", ["--engine", "adk"], "Python 3.11.4 with google-adk 2.13.0 (FOLDER/.venv/bin/python), from .venv."),
        (ADK, "2.13.0", ["--python", "FOLDER/.venv"], "Python 3.11.4 with google-adk 2.13.0 (FOLDER/.venv/bin/python), as given."),
        (
            ADK,
            None,
            ["--python", "FOLDER/.venv"],
            "the embedded runtime, because Python 3.11.4 with no google-adk (FOLDER/.venv/bin/python) was named.",
        ),
        (OURS, None, [], "the embedded runtime, because the agent imports runtime, and not google.adk."),
        (OURS, "2.13.0", [], "the embedded runtime, because the agent imports runtime, and not google.adk."),
        (OURS + ADK, "2.13.0", [], "Python 3.11.4 with google-adk 2.13.0 (FOLDER/.venv/bin/python), from .venv."),
        (STAND_IN, "2.13.0", [], "the embedded runtime, because the agent is one of Agent Inspector's own."),
    ],
)
def test_the_reason_of_the_choice_is_the_one_that_led_to_it(
    code: str, adk: str | None, options: list[str], chosen: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environment(tmp_path / ".venv", adk=adk)
    if code == STAND_IN:
        write_stand_in(tmp_path / "clerk", "clerk", [])
    else:
        agent(tmp_path / "clerk", code)
    assert main(["doctor", str(tmp_path / "clerk"), *(word.replace("FOLDER", str(tmp_path)) for word in options)]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Chosen: ")]
    assert said == [f"Chosen: {chosen}".replace("FOLDER", str(tmp_path))]
