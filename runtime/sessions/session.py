"""Sessions."""

from __future__ import annotations

import weakref
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from pydantic.alias_generators import to_camel

from runtime.sessions.event_list import EventList
from runtime.sessions.session_key import SessionKey as SessionKey
from runtime.support.unchecked import construct_from_fields


class Session(BaseModel):
    """A conversation between a user and an app: its events and the state that they produced.

    Attributes:
        id: unique for this app and user.
        app_name: the app it belongs to.
        user_id: the user it belongs to.
        state: the merged state of all scopes, with prefixes. Write to a context's `state` instead: changes here are not recorded.
        events: the events in commit order, in an `EventList`, which behaves like a list.
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

    @property
    def key(self) -> SessionKey:
        """The session's full key."""
        fields = self.__dict__  # pydantic's attributes are slow, and every commit needs the key
        return SessionKey(fields["app_name"], fields["user_id"], fields["id"])

    @property
    def revision(self) -> Any:
        """The version of this copy, which services shared by several writers compare; None if another service returned it."""
        return (self.__pydantic_private__ or {}).get("_revision")  # pydantic's way to it takes as long as the rest of a comparison

    def set_revision(self, revision: Any) -> None:
        """Set the version of this copy; for session services."""
        private = self.__pydantic_private__  # as above
        assert private is not None
        private["_revision"] = revision

    @classmethod
    def construct_unchecked(
        cls, key: tuple[str, str, str], state: dict[str, Any], last_update_time: float, events: EventList | None = None
    ) -> Session:
        """Return a session without validating its values.

        For session services, as validation would take most of the time of listing thousands of sessions.

        Args:
            key: app name, user id and session id.
            state: the merged state; not copied.
            last_update_time: epoch seconds.
            events: the events, not copied; empty if None.
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


class RunEvents:
    """The events of a session's last run, reused for the next one.

    Concurrent runs of one session do not share a list, as neither has seen the other's commits.
    """

    __slots__ = ("_events", "_holder")

    def __init__(self, session: Session) -> None:
        self._events = session.events
        self._holder = weakref.ref(session)

    def __len__(self) -> int:
        return len(self._events)

    def events_if_unedited(self) -> EventList | None:
        """Return the list if the run is over, else a copy; None if code other than a session service changed it."""
        if self._events.edited:
            return None
        return self._events if self._holder() is None else self._events.copy()
