"""A recorder that cannot write, or has a bug, does not disturb the app."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.models.scripted_llm import ScriptedLlm
from tests.recorder import load_recorder
from tests.seeds.running import run, runner_for
from tests.stranger import Stranger

recorder = load_recorder()
LIMITED = """
    import asyncio, logging, resource, sys
    from pathlib import Path
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    from tests.unit.plugins.test_recorder_failures import answers, recorder
    plugin = recorder.RecorderPlugin(Path(sys.argv[1]))
    found = asyncio.run(answers(plugin, 5, "x" * 100_000))
    print(len(found), plugin.recording.problem)
"""


async def answers(plugin: Any, turns: int, answer: str = "Trees.") -> list[str]:
    """Return the texts of a run that is recorded."""
    runner = runner_for(LlmAgent(name="seer", model=ScriptedLlm(replies=[f"{answer} {turn}" for turn in range(turns)])), plugins=[plugin])
    found = [event.content.parts[0].text for turn in range(turns) for event in await run(runner, f"turn {turn}")]  # type: ignore[union-attr,index]
    await plugin.close()
    return [text for text in found if text]


def problem(caplog: pytest.LogCaptureFixture) -> str:
    """Return the one warning that was logged."""
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    message = record.getMessage()
    caplog.clear()
    return message


async def test_a_folder_that_does_not_exist(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plugin = recorder.RecorderPlugin(tmp_path / "none" / "run.rec.db")
    assert await answers(plugin, 3) == ["Trees. 0", "Trees. 1", "Trees. 2"]
    assert "cannot be written" in problem(caplog)


async def test_a_locked_file(tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "CLOSE_SECONDS", 0.3)  # that the recorder waits for the lock
    file = tmp_path / "run.rec.db"
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE other (id)")
    other.execute("BEGIN EXCLUSIVE")
    plugin = recorder.RecorderPlugin(file)
    assert await answers(plugin, 2) == ["Trees. 0", "Trees. 1"]
    thread = plugin.recording._thread
    if thread is not None:
        thread.join(10)
    other.close()
    assert "database is locked" in problem(caplog)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of a file's size")
def test_a_full_disk(tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(LIMITED), str(tmp_path / "run.rec.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.startswith("5 ") and "Nothing more is recorded." in done.stdout


async def test_a_bug_in_a_hook(tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    plugin = recorder.RecorderPlugin(tmp_path / "run.rec.db")
    monkeypatch.setattr(recorder.ModelCall, "read_request", fail)
    assert await answers(plugin, 2) == ["Trees. 0", "Trees. 1"]
    assert "after_model_callback failed: ZeroDivisionError" in problem(caplog)


async def test_a_bug_in_the_writer(tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> str:
        raise RecursionError("too deep")

    monkeypatch.setattr(recorder, "_answered", fail)
    assert await answers(recorder.RecorderPlugin(tmp_path / "run.rec.db"), 2) == ["Trees. 0", "Trees. 1"]
    assert "too deep" in problem(caplog)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps locks for each handle")
async def test_a_second_recorder_of_the_process_drops_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.rec.db"
    assert await answers(recorder.RecorderPlugin(file), 1) == ["Trees. 0"]
    stranger = Stranger(file)
    with closing(sqlite3.connect(file, isolation_level=None)) as first:
        first.execute("BEGIN IMMEDIATE")
        first.execute("DELETE FROM inspector_tool_calls")
        monkeypatch.setattr(recorder, "CLOSE_SECONDS", 0.0)  # that the second waits for the lock
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            recorder.Recording(file)._open()
        assert stranger.ask("look")
        first.execute("COMMIT")
    stranger.close()
