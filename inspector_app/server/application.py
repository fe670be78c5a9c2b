"""The HTTP endpoints: google-adk's for listing agents, for sessions and for running."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from inspector_app.engines.agent_loader import AgentLoadError
from inspector_app.engines.env_file import EnvFileError
from inspector_app.server.agents import AgentBusyError, ServedAgent, ServedAgents
from inspector_app.server.answers import EventStream, WholeRun
from inspector_app.server.bodies import BadBodyError, NewSessionBody, RunBody, StateBody, read_body, read_json
from inspector_app.server.guard import Guard
from inspector_app.server.json_shapes import session_events, session_json
from inspector_app.server.runs import Run, Runs, SessionBusyError
from runtime.contexts.run_config import RunConfig, StreamingMode
from runtime.errors import AlreadyExistsError, KnownError, NotFoundError, ResumeError, SessionNotFoundError, StaleSessionError, StorageError
from runtime.events import Event
from runtime.history.invocations import invocations
from runtime.runners import Runner
from runtime.running.invocation_start import which_invocation
from runtime.sessions.session import Session, SessionKey

# The HTTP status for each kind of error; 400 for all others.
_STATUS: list[tuple[type[KnownError], int]] = [
    (NotFoundError, 404),
    (AlreadyExistsError, 409),
    (SessionBusyError, 409),
    (AgentBusyError, 409),
    (EnvFileError, 500),
    (StaleSessionError, 409),
    (ResumeError, 400),
    (AgentLoadError, 500),
    (StorageError, 500),
]
SESSIONS = "/apps/{app_name}/users/{user_id}/sessions"


def application(agents: ServedAgents, runs: Runs, *, port: int, token: str) -> Starlette:
    """Return the server's ASGI application.

    Args:
        agents: the served agents; closed when the server shuts down.
        runs: the active runs.
        port: the server's port.
        token: see `Guard`.
    """
    endpoints = _Endpoints(agents, runs)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await agents.close()

    return Starlette(
        routes=[
            Route("/list-apps", endpoints.list_apps, methods=["GET"]),
            Route(SESSIONS, endpoints.list_sessions, methods=["GET"]),
            Route(SESSIONS, endpoints.create_session, methods=["POST"]),
            Route(SESSIONS + "/{session_id}", endpoints.get_session, methods=["GET"]),
            Route(SESSIONS + "/{session_id}", endpoints.create_named_session, methods=["POST"]),
            Route(SESSIONS + "/{session_id}", endpoints.change_state, methods=["PATCH"]),
            Route(SESSIONS + "/{session_id}", endpoints.delete_session, methods=["DELETE"]),
            Route("/run", endpoints.run, methods=["POST"]),
            Route("/run_sse", endpoints.run_sse, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, port=port, token=token)],
        exception_handlers={KnownError: _known_error, BadBodyError: bad_body, 404: _no_such_page, 405: _no_such_page},
        lifespan=lifespan,
    )


class _Endpoints:
    """The handlers of the endpoints."""

    def __init__(self, agents: ServedAgents, runs: Runs) -> None:
        self._agents = agents
        self._runs = runs

    async def list_apps(self, _: Request) -> Response:
        """List the agents' names."""
        return JSONResponse(self._agents.names)

    async def list_sessions(self, request: Request) -> Response:
        """List a user's sessions, without their events."""
        listed = await self._agent(request).sessions.list_sessions(app_name=_name(request), user_id=request.path_params["user_id"])
        return JSONResponse([session_json(session) for session in listed.sessions])

    async def create_session(self, request: Request) -> Response:
        """Create a session with the body's id or a generated one."""
        body = await read_body(request, NewSessionBody)
        events = session_events(body.events or [])
        return await self._created(request, body.session_id, body.state or {}, [event async for event in events])

    async def create_named_session(self, request: Request) -> Response:
        """Create the session in the path; the body is its initial state."""
        state = await read_json(request)
        if not isinstance(state, dict):
            raise BadBodyError(422, "The body must be a JSON object, the session's initial state.")
        return await self._created(request, request.path_params["session_id"], state)

    async def get_session(self, request: Request) -> Response:
        """Return a session with its events."""
        return JSONResponse(session_json(await self._session(self._agent(request), _key(request))))

    async def change_state(self, request: Request) -> Response:
        """Set state keys, as an event by `system`."""
        body = await read_body(request, StateBody)
        agent, key = self._agent(request), _key(request)
        runner = await agent.runner()
        await runner.edit_state(user_id=key.user_id, session_id=key.session_id, changes=body.state_delta)
        return JSONResponse(session_json(await self._session(agent, key)))

    async def delete_session(self, request: Request) -> Response:
        """Delete a session without an active run."""
        key = _key(request)
        self._runs.check_free(key)
        await self._agent(request).sessions.delete_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        return JSONResponse(None)

    async def run(self, request: Request) -> Response:
        """Run or resume an invocation; respond when it is over."""
        return WholeRun(await self._begun(request, may_stream=False))

    async def run_sse(self, request: Request) -> Response:
        """Run or resume an invocation; send its events as they are committed."""
        return EventStream(await self._begun(request, may_stream=True))

    async def _begun(self, request: Request, *, may_stream: bool) -> Run:
        """Begin the run after all checks that can be made beforehand, so that these errors have their own HTTP status.

        Args:
            request: the request.
            may_stream: whether the response may have partial events; as in google-adk, that of `/run` has none.
        """
        body = await read_body(request, RunBody)
        agent = self._agents.named(body.app_name)
        runner = await agent.runner()
        key = SessionKey(body.app_name, body.user_id, body.session_id)
        self._runs.check_free(key)
        # The session for the run itself, so that a long one is not decoded twice.
        session = await agent.sessions.session_for_run(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        _check(_found(session, key), runner, body)
        mode = StreamingMode.SSE if body.streaming and may_stream else StreamingMode.NONE
        events = runner.run_async(
            user_id=key.user_id,
            session_id=key.session_id,
            invocation_id=body.invocation_id,
            new_message=body.new_message,
            state_delta=body.state_delta,
            run_config=RunConfig(streaming_mode=mode, custom_metadata=body.custom_metadata),
        )
        return self._runs.begin(key, agent.in_environment(events))

    def _agent(self, request: Request) -> ServedAgent:
        return self._agents.named(_name(request))

    async def _created(self, request: Request, session_id: str | None, state: dict[str, Any], events: Sequence[Event] = ()) -> Response:
        user_id = request.path_params["user_id"]
        service = self._agent(request).sessions
        session = await service.create_session(app_name=_name(request), user_id=user_id, session_id=session_id, state=state)
        for event in events:
            await service.append_event(session, event)
        return JSONResponse(session_json(session))

    async def _session(self, agent: ServedAgent, key: SessionKey) -> Session:
        session = await agent.sessions.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        return _found(session, key)


def _found(session: Session | None, key: SessionKey) -> Session:
    if session is None:
        raise SessionNotFoundError(f"Session not found: {key.session_id}. It does not exist for user {key.user_id!r} in {key.app_name!r}.")
    return session


def _check(session: Session, runner: Runner, body: RunBody) -> None:
    """Raise ResumeError if there is nothing to run or to resume."""
    config = runner.resumability_config
    resumed = which_invocation(session, body.invocation_id, body.new_message, is_resumable=bool(config and config.is_resumable))
    if resumed is None or body.new_message is not None:
        return
    for invocation in invocations(session.events):
        # Not by status: an agent without checkpoints that stopped after a text looks finished and can still be run again.
        if invocation.invocation_id == resumed and invocation.checkpoint.get(runner.agent.name) == "end":
            raise ResumeError(f"The invocation {resumed} is finished ({invocation.reason}) and cannot be resumed.")


def _name(request: Request) -> str:
    name: str = request.path_params["app_name"]
    return name


def _key(request: Request) -> SessionKey:
    return SessionKey(_name(request), request.path_params["user_id"], request.path_params["session_id"])


def _known_error(_: Request, error: Exception) -> Response:
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
    return JSONResponse({"detail": str(error)}, status)


def bad_body(_: Request, error: Exception) -> Response:
    """Respond to a body that cannot be used."""
    assert isinstance(error, BadBodyError)
    # After a body that was not read to its end, the connection cannot be used for another request.
    headers = {"Connection": "close"} if error.status in (400, 408, 413) else None
    return JSONResponse({"detail": error.problems}, error.status, headers)


def _no_such_page(request: Request, error: Exception) -> Response:
    return JSONResponse(
        {"detail": getattr(error, "detail", "Not Found")}, getattr(error, "status_code", 404), getattr(error, "headers", None)
    )
