"""The report distinguishes good services from bad ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime.events import Event
from runtime.sessions import GetSessionConfig, InMemorySessionService, Session
from tests.conformance import clauses
from tests.conformance.__main__ import main
from tests.conformance.backends import IN_MEMORY
from tests.conformance.clause import CLAUSES, Backend
from tests.conformance.report import table, try_all

ROOT = Path(__file__).resolve().parents[2]
assert clauses.__all__


class Forgetful(InMemorySessionService):
    """Loses every third event."""

    async def append_event(self, session: Session, event: Event) -> Event:
        if len(session.events) % 3 == 2:
            session.events.append(event)
            return event
        return await super().append_event(session, event)


class Merging(InMemorySessionService):
    """Merges values that it should replace."""

    async def get_session(self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None) -> Session | None:
        session = await super().get_session(app_name=app_name, user_id=user_id, session_id=session_id, config=config)
        for event in session.events if session else ():
            for key, value in event.actions.state_delta.items():
                if session and isinstance(value, dict):
                    session.state[key] = {"a": 1, "b": 2, **value}
        return session


def own_service(_folder: Path) -> InMemorySessionService:
    return InMemorySessionService()


own_service.unsupported = IN_MEMORY  # type: ignore[attr-defined]


def forgetful(_folder: Path) -> Forgetful:
    return Forgetful()


async def failures(service: Any) -> set[str]:
    results = await try_all([Backend("tried", lambda folder: service(), IN_MEMORY)])
    assert len(results) == len(CLAUSES)
    return {result.clause for result in results if result.outcome == "failed"}


async def test_a_service_that_loses_events_fails() -> None:
    assert await failures(InMemorySessionService) == set()
    found = await failures(Forgetful)
    assert "append_event: order is commit order and times are the events own [mixed]" in found
    assert "append_event: many tasks on one held session lose nothing" in found
    assert "append_event: a partial event changes nothing" not in found


async def test_a_service_that_merges_values_fails() -> None:
    assert "append_event: values are replaced and not merged" in await failures(Merging)


async def test_the_table_has_every_outcome_and_its_reason() -> None:
    tried = [Backend("good", lambda folder: InMemorySessionService(), IN_MEMORY), Backend("bad", lambda folder: Forgetful(), IN_MEMORY)]
    chosen = [clause for clause in CLAUSES if "not merged" in clause.name or "survives" in clause.name or "clock that goes" in clause.name]
    lines = table(await try_all(tried, chosen)).splitlines()
    assert [line.split() for line in lines[:1]] == [["clause", "good", "bad"]]
    assert [line.split()[-2:] for line in lines[1:4]] == [
        ["passed", "passed"],
        ["passed", "failed"],
        ["unsupported", "unsupported"],
    ] or lines
    assert any("append_event.py:" in line and "assert" in line for line in lines)
    assert any("it lives as long as the process" in line for line in lines)


def test_the_command_tests_a_named_service() -> None:
    def run(name: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tests.conformance", f"tests.conformance.test_report:{name}"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, env=dict(os.environ))

    good, bad = run("own_service"), run("forgetful")
    assert (good.returncode, bad.returncode) == (0, 1), good.stderr + bad.stderr
    assert "unsupported  own_service  get_session: survives reopening" in good.stdout
    assert "failed  forgetful  append_event: order is commit order" in bad.stdout


def test_a_misspelt_service_is_reported(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tests.conformance.test_raport:own_service", "tests.conformance.test_report:own_servise", ":own_service"):
        monkeypatch.setattr(sys, "argv", ["conformance", name])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert f"There is no service {name!r}" in capsys.readouterr().err
