"""One conversation between a user and an app."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from pydantic.alias_generators import to_camel

from runtime.sessions.event_list import EventList
from runtime.support.unchecked import construct_from_fields


class SessionKey(NamedTuple):
    """What names a session: ids are unique per app and user only."""

    app_name: str
    user_id: str
    session_id: str


class Session(BaseModel):
    """A conversation: its events so far and the state they add up to (seed: runtime-event-loop, "Session").

    Attributes:
        id: unique for this app and user.
        app_name: the app it belongs to.
        user_id: the user it belongs to.
        state: the merged state of all scopes, with prefixes. Write through a context's `state`, not here: only that is tracked.
        events: in commit order; a list in all but its class (`EventList`).
        last_update_time: epoch seconds of the last committed event.
    """

    model_config = ConfigDict(
        extra="forbid", arbitrary_types_allowed=True, alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    id: str
    app_name: str
    user_id: str
    state: dict[str, Any] = Field(default_factory=dict)
    events: EventList = Field(default_factory=EventList)
    last_update_time: float = 0.0

    _revision: Any = PrivateAttr(default=None)
    """What a session service that several writers share knows this copy by; its own business."""

    @property
    def key(self) -> SessionKey:
        """App, user and id together."""
        return SessionKey(self.app_name, self.user_id, self.id)

    @classmethod
    def construct_unchecked(
        cls, key: tuple[str, str, str], state: dict[str, Any], last_update_time: float, events: EventList | None = None
    ) -> Session:
        """Return a session made of values that need no validation.

        For session services: of listing thousands of sessions, pydantic's own way would take most of the time.

        Args:
            key: its names, as a `SessionKey` has them.
            state: the merged state, the session's own from now on.
            last_update_time: epoch seconds.
            events: its own from now on; none if left out.
        """
        app_name, user_id, session_id = key
        fields = {
            "id": session_id,
            "app_name": app_name,
            "user_id": user_id,
            "state": state,
            "events": EventList() if events is None else events,
            "last_update_time": last_update_time,
        }
        return construct_from_fields(cls, fields, _FIELDS, {"_revision": None})


_FIELDS = set(Session.model_fields)
