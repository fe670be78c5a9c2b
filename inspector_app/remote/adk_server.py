"""A server of google-adk's (`adk api_server`, `adk web`) or ours, by its protocol."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from inspector_app.remote.requests import Requests
from inspector_app.remote.server_address import ServerAddress
from inspector_app.remote.server_files import ServerFiles
from inspector_app.remote.store import RemoteSession
from runtime.errors.not_found_error import NotFoundError
from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.column_values import epoch
from runtime.storage.layouts.decode import parse_event
from runtime.support.bounded import EVENT, Budget, TooMuchError

_DEEPEST = 50  # agents below one another
_MOST_SHOWN = 1_000  # agents of an app, and tools of an agent
APPS_SECONDS = 10.0  # between two questions which apps there are


class AdkServer:
    """The sessions of a server; see `RemoteStore`.

    Attributes:
        address: the server.
        target, title, badge, note, files: see `RemoteStore`.

    Args:
        address: the server.
    """

    badge = "server"

    def __init__(self, address: ServerAddress) -> None:
        self.address = address
        self.requests = Requests(address)
        self.files = ServerFiles(self.requests)
        self.target = address.shown
        self.title = urlsplit(address.base).netloc
        users = " and ".join(f"“{user}”" for user in address.users)
        self.note = (
            f"{address.base}\nSessions of the user {users}: the server has no list of its users."
            " To see another user's sessions, open the address with ?user=NAME."
        )
        self._apps: list[str] = []
        self._asked = float("-inf")

    def apps(self) -> list[str]:
        """Return the names of the apps that the server runs, or of those that the address names.

        Raises:
            StorageError: see `Requests.ask`; also if it is not a server of google-adk's.
        """
        if time.monotonic() - self._asked > APPS_SECONDS:
            try:
                found = self.requests.ask("GET", "/list-apps")
            except NotFoundError as error:
                raise self._not_adk("it has no list of apps") from error
            if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
                raise self._not_adk("its list of apps is none")
            only = self.address.apps
            self._apps, self._asked = [name for name in found if not only or name in only], time.monotonic()
        return self._apps

    def listed(self) -> dict[SessionKey, float]:
        """See `RemoteStore.listed`."""
        found: dict[SessionKey, float] = {}
        for app in self.apps():
            for user in self.address.users:
                try:
                    sessions = self.requests.ask("GET", _path("apps", app, "users", user, "sessions"))
                except NotFoundError:  # the app was removed meanwhile
                    continue
                if not isinstance(sessions, list):
                    raise self._not_adk("its list of sessions is none")
                for session in sessions:
                    if isinstance(session, dict) and isinstance(session.get("id"), str):
                        found[SessionKey(app, user, session["id"])] = _time(session)
        return found

    def session(self, key: SessionKey) -> RemoteSession | None:
        """See `RemoteStore.session`."""
        budget = Budget()
        try:
            found = self.requests.ask("GET", session_path(key), budget=budget)
        except NotFoundError:
            return None
        events, state = (found.get("events", []), found.get("state") or {}) if isinstance(found, dict) else (None, None)
        if not isinstance(events, list) or not isinstance(state, dict):
            raise self._not_adk("its session is none")
        try:
            budget.take(EVENT * len(events))
        except TooMuchError as error:
            raise StorageError(f"The session {key.session_id} of {self.address.shown} {error}, so it is not read.") from None
        return RemoteSession(state, _time(found), [parse_event(json.dumps(event)) for event in events])

    def create_session(
        self, app: str, user: str, session_id: str | None = None, state: dict[str, Any] | None = None, events: Sequence[Any] = ()
    ) -> SessionKey:
        """Create a session.

        Args:
            app, user: whose it is.
            session_id: its id; None lets the server make one.
            state: its first state.
            events: JSON objects of events, which the server appends.

        Raises:
            StorageError: the server refused.
        """
        body = {"sessionId": session_id, "state": state, "events": list(events)}
        path = _path("apps", app, "users", user, "sessions")
        made = self.requests.ask("POST", path, {name: value for name, value in body.items() if value})
        if not isinstance(made, dict) or not isinstance(made.get("id"), str):
            raise self._not_adk("its new session has no id")
        return SessionKey(app, user, made["id"])

    def delete_session(self, key: SessionKey) -> None:
        """Delete a session and its events.

        Raises:
            StorageError: the server refused.
        """
        self.requests.ask("DELETE", session_path(key))

    def change_state(self, key: SessionKey, changes: dict[str, Any]) -> None:
        """Set state keys, as an event that the server makes.

        Raises:
            StorageError: the server refused.
        """
        self.requests.ask("PATCH", session_path(key), {"stateDelta": changes})

    def described(self, app: str) -> dict[str, Any]:
        """Return the app's agents as `AgentDescription.root`; only a name if the server does not describe them."""
        try:
            found = self.requests.ask("GET", _path("apps", app, "app-info"))
            agents, root = found["agents"], found.get("rootAgentName") or found.get("root_agent_name")
            return _tree(agents, root, set(), 0)
        except (StorageError, NotFoundError, KeyError, TypeError, AttributeError):
            return {"name": app, "type": "BaseAgent", "description": "", "tools": [], "sub_agents": []}

    def version(self) -> str:
        """Return what answers, as a phrase: google-adk's version if the server tells it."""
        try:
            found = self.requests.ask("GET", "/version")
        except (StorageError, NotFoundError):
            return "google-adk's protocol"
        return f"google-adk {found['version']}" if isinstance(found, dict) and found.get("version") else "google-adk's protocol"

    def close(self) -> None:
        """See `RemoteStore.close`."""
        self.requests.close()

    def _not_adk(self, why: str) -> StorageError:
        return StorageError(f"{self.address.shown} does not answer as a server of google-adk's does: {why}.")


def session_path(key: SessionKey) -> str:
    """Return the path of a session."""
    return _path("apps", key.app_name, "users", key.user_id, "sessions", key.session_id)


def _path(*names: str) -> str:
    return "".join(f"/{quote(name, safe='')}" for name in names)


def _time(session: dict[str, Any]) -> float:
    found = session.get("lastUpdateTime", session.get("last_update_time", 0.0))
    return epoch(found) if isinstance(found, int | float) else 0.0


def _tree(agents: dict[str, Any], name: str, seen: set[str], depth: int) -> dict[str, Any]:
    """Return an agent with those below it, each in the first place where it is named: agents that name each other would have no end."""
    seen.add(name)
    agent = agents[name]
    below = agent.get("subAgents", agent.get("sub_agents")) or ()
    declared = [one for tool in agent.get("tools") or () for one in tool.get("functionDeclarations") or ()]
    return {
        "name": str(name),
        "type": "LlmAgent",
        "description": str(agent.get("description") or ""),
        "texts": {"instruction": text} if isinstance(text := agent.get("instruction"), str) else {},
        "tools": [str(one["name"]) for one in declared[:_MOST_SHOWN]],
        "sub_agents": [
            _tree(agents, one, seen, depth + 1)
            for one in below
            if one in agents and one not in seen and len(seen) < _MOST_SHOWN and depth < _DEEPEST
        ],
    }
