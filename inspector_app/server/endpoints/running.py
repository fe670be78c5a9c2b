"""Runs: `/run` and `/run_sse`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from inspector_app.server.agents import ServedAgents
from inspector_app.server.answers import EventStream, WholeRun
from inspector_app.server.bodies import body_of, described
from inspector_app.server.paths import existing
from inspector_app.server.request_models import RunBody
from inspector_app.server.runs import Run, Runs
from runtime.contexts.run_config import RunConfig, StreamingMode
from runtime.errors import ResumeError
from runtime.history.invocations import invocations
from runtime.runners import Runner
from runtime.running.invocation_start import start_of
from runtime.sessions.base_session_service import load_for_run
from runtime.sessions.session import Session
from runtime.sessions.session_key import SessionKey


class Running:
    """Endpoints that run agents."""

    def __init__(self, agents: ServedAgents, runs: Runs) -> None:
        self._agents = agents
        self._runs = runs

    def add_to(self, router: APIRouter) -> None:
        """Add the routes."""
        router.add_api_route("/run", self.run, methods=["POST"], response_model=None, openapi_extra=described(RunBody))
        router.add_api_route("/run_sse", self.run_sse, methods=["POST"], response_model=None, openapi_extra=described(RunBody))

    async def run(self, body: Annotated[RunBody, body_of(RunBody)]) -> Response:
        """Run or resume an invocation; respond when it is over. As in google-adk, the response has no partial events."""
        return WholeRun(await self._begun(body, StreamingMode.NONE))

    async def run_sse(self, body: Annotated[RunBody, body_of(RunBody)]) -> Response:
        """Run or resume an invocation; send its events as they are committed."""
        run = await self._begun(body, StreamingMode.SSE if body.streaming else StreamingMode.NONE)
        return EventStream(run, splits_artifacts=body.function_call_event_id is None)

    async def _begun(self, body: RunBody, mode: StreamingMode) -> Run:
        """Begin the run after all checks that can be made beforehand, so that these errors have their own HTTP status."""
        agent = self._agents.named_or_only(body.app_name)
        runner = await agent.runner()
        key = SessionKey(agent.name, body.user_id, body.session_id)
        self._runs.check_free(key)
        # The session for the run itself, so that a long one is not decoded twice.
        session = await load_for_run(agent.sessions, app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        _check(existing(session, key), runner, body)
        events = runner.run_async(
            user_id=key.user_id,
            session_id=key.session_id,
            invocation_id=body.invocation_id,
            new_message=body.new_message,
            state_delta=body.state_delta,
            run_config=RunConfig(streaming_mode=mode, custom_metadata=body.custom_metadata),
        )
        return self._runs.begin(key, agent.in_environment(events))


def _check(session: Session, runner: Runner, body: RunBody) -> None:
    """Raise ResumeError if there is nothing to run or to resume."""
    config = runner.resumability_config
    resumed = start_of(
        runner.agent, session, body.invocation_id, body.new_message, is_resumable=bool(config and config.is_resumable)
    ).resumed_id
    if resumed is None or body.new_message is not None:
        return
    for invocation in invocations(session.events):
        # Not by status: an agent without checkpoints that stopped after a text looks finished and can still be run again.
        if invocation.invocation_id == resumed and invocation.checkpoint.get(runner.agent.name) == "end":
            raise ResumeError(f"The invocation {resumed} is finished ({invocation.reason}) and cannot be resumed.")
