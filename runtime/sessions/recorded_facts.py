"""What a recording knows of a session's events and they do not say: their models, and what agents as tools did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runtime.sessions.session_key import SessionKey

if TYPE_CHECKING:
    from runtime.events.event import Event


@dataclass(frozen=True, slots=True)
class RecordedInnerEvent:
    """An event of an agent that ran as a tool.

    Attributes:
        key, invocation_id: where the outermost agent called it.
        call_ids: ids of the function calls that it is inside of, the outermost first.
        event: the event; None: the last call ran an agent, and nothing of its run was seen.
    """

    key: SessionKey
    invocation_id: str
    call_ids: tuple[str | None, ...]
    event: Event | None


class RecordedFacts:
    """What a recording knows of events and they do not say.

    Args:
        models: event id → model of an answer.
        inner: the events of agents that ran as tools.
        plain: invocation and id of each call that is known to be of another tool.

    Attributes:
        models, inner: see the arguments.
    """

    def __init__(
        self,
        models: Mapping[str, str] | None = None,
        inner: Iterable[RecordedInnerEvent] = (),
        plain: Iterable[tuple[str, str | None]] = (),
    ) -> None:
        self.models = models or {}
        self._inner: dict[tuple[str, str | None], list[RecordedInnerEvent]] = {}
        self.inner = tuple(inner)
        for one in self.inner:
            self._inner.setdefault((one.invocation_id, one.call_ids[0] if one.call_ids else None), []).append(one)
        self._plain = frozenset(plain)

    def inside(self, invocation_id: str, call_id: str | None) -> list[RecordedInnerEvent]:
        """Return the events of the agent that a call runs, with those of the agents that it calls."""
        return self._inner.get((invocation_id, call_id), [])

    def is_known(self, invocation_id: str, call_id: str | None) -> bool:
        """Return whether it is known if a call runs an agent."""
        return (invocation_id, call_id) in self._inner or (invocation_id, call_id) in self._plain
