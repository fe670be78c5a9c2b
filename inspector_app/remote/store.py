"""What is asked of a server that keeps sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.events.event import Event
from runtime.events.marks import drop_kept_temp
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of
from runtime.sessions.temp_trace import NotStored


@dataclass(frozen=True, slots=True)
class RemoteSession:
    """A session as the server has it now.

    Attributes:
        state: its merged state.
        updated: when it changed last, epoch seconds.
        events: its events in the server's order.
    """

    state: Mapping[str, Any]
    updated: float
    events: Sequence[Event]

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", {key: value for key, value in self.state.items() if scope_of(key) != "temp"})
        for event in self.events:
            take_temp(event)


def take_temp(event: Event) -> dict[str, NotStored]:
    """Remove the `temp:` keys that a server sent from an event, and return them with their types: the values are displayed nowhere."""
    drop_kept_temp(event.custom_metadata)
    delta = event.actions.state_delta
    return {key: NotStored(type(delta.pop(key)).__name__) for key in [key for key in delta if scope_of(key) == "temp"]}


class RemoteStore(Protocol):
    """A server with sessions. Thread-safe; each call blocks.

    Attributes:
        target: its URL without a token; identifies the source.
        title: its name in a narrow pane.
        badge: its kind in a word or three.
        note: details, for a tooltip.
    """

    target: str
    title: str
    badge: str
    note: str

    @property
    def files(self) -> BaseArtifactService | None:
        """The artifacts of its sessions; None if they cannot be read here."""

    def listed(self) -> dict[SessionKey, float]:
        """Return all sessions, with the time of their last change in epoch seconds.

        Raises:
            StorageError: the server cannot be used; a sentence says why.
        """

    def session(self, key: SessionKey) -> RemoteSession | None:
        """Return a session; None if it does not exist.

        Raises:
            StorageError: the server cannot be used; a sentence says why.
        """

    def close(self) -> None:
        """Close all connections; a call that waits ends with an error."""
