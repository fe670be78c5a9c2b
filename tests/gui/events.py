"""Events for tests of views."""

from __future__ import annotations

from google.genai import types

from runtime.events import Event, EventActions


def said(words: str, *, author: str = "writer", invocation: str = "e-1", number: int = 0, **fields: object) -> Event:
    """Return an event with a text."""
    made = Event(author=author, invocation_id=invocation, content=types.Content(role="model", parts=[types.Part(text=words)]), **fields)  # type: ignore[arg-type]
    made.timestamp = 1_795_000_000.0 + number
    return made


def partial(words: str, *, author: str = "writer", invocation: str = "e-1", branch: str | None = None) -> Event:
    """Return a partial event of a streamed text."""
    return said(words, author=author, invocation=invocation, partial=True, branch=branch)


def changed(delta: dict[str, object], *, author: str = "writer", invocation: str = "e-1") -> Event:
    """Return an event that only changes state."""
    return Event(author=author, invocation_id=invocation, actions=EventActions(state_delta=delta))


def turns(count: int, *, per_invocation: int = 4) -> list[Event]:
    """Return `count` events, `per_invocation` of them in each invocation."""
    return [
        said(
            f"text {number}",
            author="user" if number % per_invocation == 0 else "writer",
            invocation=f"e-{number // per_invocation}",
            number=number,
        )
        for number in range(count)
    ]
