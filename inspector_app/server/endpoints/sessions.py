"""Sessions and the memory across them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from inspector_app.server.agents import ServedAgents
from inspector_app.server.bodies import BadBodyError, body_of, described, read_json
from inspector_app.server.json_shapes import session_events, session_json
from inspector_app.server.paths import SESSION, SESSIONS, USER, found_session
from inspector_app.server.request_models import MemoryBody, NewSessionBody, StateBody
from inspector_app.server.runs import Runs
from runtime.errors import KnownError, NotFoundError
from runtime.events import Event
from runtime.sessions.session_key import SessionKey
from runtime.support.bounded import parse, read_file
from runtime.support.worker_threads import run_in_thread

_INITIAL_STATE = "initial_state.json"  # in an agent's folder, as google-adk's development server reads it
_OF_EVALS = ("adk-eval-session-", "___eval___session___")  # ids of sessions in which google-adk, new and old, ran cases of evals
_USER = "user"  # the author of a change that a client makes, as in google-adk


class SessionOptionsError(KnownError):
    """The session service has no options."""


class Sessions:
    """Endpoints of sessions."""

    def __init__(self, agents: ServedAgents, runs: Runs) -> None:
        self._agents = agents
        self._runs = runs

    def add_to(self, router: APIRouter) -> None:
        """Add the routes."""
        add = router.add_api_route
        add(SESSIONS, self.list_sessions, methods=["GET"], response_model=None)
        add(SESSIONS, self.create_session, methods=["POST"], response_model=None, openapi_extra=described(NewSessionBody))
        add(SESSION, self.get_session, methods=["GET"], response_model=None)
        add(SESSION, self.create_named_session, methods=["POST"], response_model=None, openapi_extra=described())
        add(SESSION, self.change_state, methods=["PATCH"], response_model=None, openapi_extra=described(StateBody))
        add(SESSION, self.delete_session, methods=["DELETE"], response_model=None)
        add(USER + "/memory", self.add_to_memory, methods=["PATCH"], response_model=None, openapi_extra=described(MemoryBody))

    async def list_sessions(self, app_name: str, user_id: str) -> Response:
        """List a user's sessions, without their events and without those of evaluations; none of an unknown app."""
        try:
            service = self._agents.named(app_name).sessions
        except NotFoundError:
            return JSONResponse([])
        listed = await service.list_sessions(app_name=app_name, user_id=user_id)
        return JSONResponse([session_json(session) for session in listed.sessions if not session.id.startswith(_OF_EVALS)])

    async def create_session(self, app_name: str, user_id: str, body: Annotated[NewSessionBody, body_of(NewSessionBody)]) -> Response:
        """Create a session with the body's id or a generated one."""
        if body.options:
            raise SessionOptionsError("Session options are not supported by the configured session service.")
        events = [event async for event in session_events(body.events or [])]
        return await self._created(app_name, user_id, body.session_id, body.state or {}, events)

    async def create_named_session(self, request: Request, app_name: str, user_id: str, session_id: str) -> Response:
        """Create the session in the path; the body is its initial state."""
        state = await read_json(request)
        if state is not None and not isinstance(state, dict):
            raise BadBodyError(422, "The body must be a JSON object, the session's initial state.")
        return await self._created(app_name, user_id, session_id, state or {})

    async def get_session(self, app_name: str, user_id: str, session_id: str) -> Response:
        """Return a session with its events."""
        key = SessionKey(app_name, user_id, session_id)
        return JSONResponse(session_json(await found_session(self._agents.named(app_name).sessions, key)))

    async def change_state(self, app_name: str, user_id: str, session_id: str, body: Annotated[StateBody, body_of(StateBody)]) -> Response:
        """Set state keys, as an event by the user."""
        agent = self._agents.named(app_name)
        runner = await agent.runner()
        if body.state_delta:
            await runner.edit_state(user_id=user_id, session_id=session_id, changes=body.state_delta, author=_USER)
        return JSONResponse(session_json(await found_session(agent.sessions, SessionKey(app_name, user_id, session_id))))

    async def delete_session(self, app_name: str, user_id: str, session_id: str) -> Response:
        """Delete a session without an active run."""
        self._runs.check_free(SessionKey(app_name, user_id, session_id))
        await self._agents.named(app_name).sessions.delete_session(app_name=app_name, user_id=user_id, session_id=session_id)
        return JSONResponse(None)

    async def add_to_memory(self, app_name: str, user_id: str, body: Annotated[MemoryBody, body_of(MemoryBody)]) -> Response:
        """Add a session's events to the memory that the app's agents search."""
        agent = self._agents.named(app_name)
        session = await found_session(agent.sessions, SessionKey(app_name, user_id, body.session_id))
        await agent.memory.add_session_to_memory(session)
        return JSONResponse(None)

    async def _created(
        self, app_name: str, user_id: str, session_id: str | None, state: dict[str, Any], events: Sequence[Event] = ()
    ) -> Response:
        agent = self._agents.named(app_name)
        initial = await run_in_thread(lambda: _initial_state(agent.folder / _INITIAL_STATE))
        state = {**initial, **state}
        session = await agent.sessions.create_session(app_name=app_name, user_id=user_id, session_id=session_id, state=state)
        for event in events:
            await agent.sessions.append_event(session, event)
        return JSONResponse(session_json(session))


def _initial_state(file: Any) -> dict[str, Any]:
    """Return the state that an agent's folder gives each new session; nothing if the file is missing or wrong, as in google-adk."""
    try:
        found = parse(read_file(file))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
