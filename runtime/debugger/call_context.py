"""What the debugger asks of the context that an agent runs in."""

from __future__ import annotations

from typing import Any, Protocol


class CalledAgent(Protocol):
    """The agent of a context."""

    @property
    def name(self) -> str:
        """The agent's name."""


class RunningSession(Protocol):
    """The session of a context."""

    @property
    def state(self) -> dict[str, Any]:
        """The state of all scopes, uncommitted changes included."""


class SharedContext(Protocol):
    """What all contexts of one run share."""

    @property
    def outer(self) -> tuple[CallContext, str | None] | None:
        """The context and function call that the run is inside of, if its agent runs as a tool."""

    @property
    def committed_state(self) -> dict[str, Any]:
        """The state without uncommitted changes."""


class CallContext(Protocol):
    """The context of one agent call; an `InvocationContext` is one."""

    @property
    def agent(self) -> CalledAgent:
        """The called agent."""

    @property
    def branch(self) -> str | None:
        """The branch of the agent's events."""

    @property
    def depth(self) -> int:
        """How many agents called each other to get here; 0 for the Runner's own context."""

    @property
    def session(self) -> RunningSession:
        """The session of the run."""

    @property
    def shared(self) -> SharedContext:
        """What all contexts of the run share; the same object in each of them."""
