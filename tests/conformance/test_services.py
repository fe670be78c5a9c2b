"""Each of our services passes every clause that it supports."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.sessions.vertex_ai_session_service import VertexAiSessionService
from tests.agent_engine import agent_engine
from tests.conformance import clauses
from tests.conformance.backends import backends, postgresql
from tests.conformance.clause import CLAUSES, EVENT_TIMES, IDS_OF_USERS, STALE_COPIES, Backend, Clause, UnsupportedError, hold

assert clauses.__all__

IN_AGENT_ENGINE = {
    STALE_COPIES: "the server has no condition for an append",
    IDS_OF_USERS: "an id names one session of an engine",
    EVENT_TIMES: "the server lists the times of its own clock",
}


class OneEngineForEachApp(VertexAiSessionService):
    """Maps the clauses' short app names to engines, as google-adk's subclasses do."""

    def _get_reasoning_engine_id(self, app_name: str) -> str:
        return str(int.from_bytes(app_name.encode()[:6]) + 1)


@pytest.mark.parametrize("clause", CLAUSES, ids=str)
async def test_sessions_in_an_agent_engine_keep_a_clause(clause: Clause, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with agent_engine() as server:
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", server.address)
        backend = Backend("an Agent Engine", lambda folder: OneEngineForEachApp("test", "us-central1"), IN_AGENT_ENGINE)
        try:
            await hold(backend, clause, tmp_path)
        except UnsupportedError as error:
            pytest.skip(f"unsupported by {backend.name}: {error}")


@pytest.mark.parametrize("clause", CLAUSES, ids=str)
@pytest.mark.parametrize("backend", [*backends(), postgresql()], ids=lambda backend: backend.name)
async def test_a_service_keeps_a_clause(backend: Backend, clause: Clause, tmp_path: Path) -> None:
    try:
        await hold(backend, clause, tmp_path)
    except UnsupportedError as error:
        pytest.skip(f"unsupported by {backend.name}: {error}")
