"""The rows of the event stream as plain strings, and the groups and growing texts behind them. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from google.genai import types

from inspector_app.presentation import describe, short_id, tokens_of
from inspector_app.values import clock, duration, visible
from runtime.events import Event
from runtime.events.marks import EDITED

InvocationStatus = Literal["running", "finished", "paused", "interrupted", "rewound"]

USER_ROLE = "author0"
MOST_LANES = 6
_AGENT_ROLES = ("author1", "author2", "author3")


@dataclass(frozen=True, slots=True)
class StreamRow:
    """One row of the stream, ready to paint.

    Attributes:
        kind: what sort of row: an invocation's header, a committed event, text still streaming, or what is waited for.
        number, time, author, summary, delta, tokens: the cells' texts.
        icon: Font Awesome name.
        role: colour role of the summary (of the status word in a header).
        author_role: colour role of the author and the icon.
        event_kind: the event's kind; in a header the status word.
        folded: whether a header's events are folded away.
        held: whether the agent is held at this event.
        breakpoint: `on` where a breakpoint stops, `off` where one that is switched off would.
        edited: whether somebody changed by hand what led to this event.
        author_sign: tells authors of one colour apart: 0, or how often the colours had been given out before.
        lanes: how deep the agent's branch is.
    """

    kind: Literal["invocation", "event", "streaming", "waiting"]
    summary: str
    number: str = ""
    time: str = ""
    author: str = ""
    delta: str = ""
    tokens: str = ""
    icon: str = ""
    role: str = "text"
    author_role: str = USER_ROLE
    event_kind: str = ""
    folded: bool = False
    held: bool = False
    breakpoint: str = ""
    edited: bool = False
    author_sign: int = 0
    lanes: int = 0


@dataclass(slots=True)
class InvocationGroup:
    """Neighbouring events of one invocation; an invocation that was resumed later has several groups.

    Attributes:
        invocation_id: whose events they are.
        first: index of the first event.
        continued: whether an earlier group has the same invocation.
        count, tokens, started, ended: of these events; times in epoch seconds.
        folded: whether only the header is shown.
        counted: whether tokens and times are known; of events that are not read, only the number is.
        unread: which invocations these events belong to is not known yet.
    """

    invocation_id: str
    first: int
    continued: bool
    count: int = 0
    tokens: int = 0
    started: float = 0.0
    ended: float = 0.0
    folded: bool = False
    counted: bool = True
    unread: bool = False

    def add(self, event: Event) -> None:
        """Count one more event."""
        if self.count == 0:
            self.started = event.timestamp
        self.count += 1
        self.ended = event.timestamp
        self.tokens += tokens_of(event)

    @property
    def rows(self) -> int:
        """How many rows the group takes, its header included."""
        return 1 if self.folded else 1 + self.count


STATUS_ROLES: dict[str, str] = {"running": "accent", "finished": "ok", "paused": "warn", "interrupted": "bad", "rewound": "dim"}


def header_row(group: InvocationGroup, status: str) -> StreamRow:
    """Return a group's header.

    Args:
        group: the group.
        status: the invocation's status, or an empty text where it is not known.
    """
    if group.unread:
        return StreamRow("invocation", f"{group.count:,} earlier events", event_kind="reading…", role="dim", folded=group.folded)
    name = f"invocation {short_id(group.invocation_id)}" if group.invocation_id else "no invocation"
    facts = [f"{group.count:,} event{'' if group.count == 1 else 's'}"]
    if group.count > 1 and group.counted:
        facts.append(duration(group.ended - group.started))
    if group.tokens:
        facts.append(f"{group.tokens:,} tokens")
    return StreamRow(
        "invocation",
        name + (" continued" if group.continued else ""),
        tokens="   ".join(facts),
        role=STATUS_ROLES.get(status, "dim"),
        event_kind=status,
        folded=group.folded,
    )


def unread_row(index: int) -> StreamRow:
    """Return the row of an event that is still being read."""
    return StreamRow("event", "…", number=f"{index + 1:,}", icon="ellipsis", role="dim", author_role="dim", event_kind="being read")


def event_row(
    event: Event, index: int, author_role: str, held: bool, temp_keys: int, author_sign: int = 0, breakpoint_mark: str = ""
) -> StreamRow:
    """Return a committed event's row.

    Args:
        event: the event.
        index: its place in the session, from 0; shown from 1.
        author_role: colour role of its author.
        held: whether the agent is held at it.
        temp_keys: how many `temp:` keys it set, which the stored event does not carry.
        author_sign: how often the colours had been given out before its author got one.
        breakpoint_mark: see `StreamRow.breakpoint`.
    """
    shown = describe(event)
    changed = len(event.actions.state_delta) + temp_keys
    tokens = tokens_of(event)
    return StreamRow(
        "event",
        shown.summary,
        breakpoint=breakpoint_mark,
        edited=EDITED in (event.custom_metadata or {}),
        number=f"{index + 1:,}",
        time=clock(event.timestamp),
        author=visible(event.author[:80]),
        delta=f"Δ{changed}" if changed else "",
        tokens=f"{tokens:,}" if tokens else "",
        icon=shown.icon,
        role=shown.role,
        author_role=author_role,
        event_kind=shown.kind,
        held=held,
        author_sign=author_sign,
        lanes=min(event.branch.count(".") + 1, MOST_LANES) if event.branch else 0,
    )


class AuthorColours:
    """Gives each agent a colour in the order they first speak; the user always has the first."""

    def __init__(self) -> None:
        self._roles: dict[str, str] = {}

    @property
    def authors(self) -> list[str]:
        """The agents so far, in the order they first spoke."""
        return list(self._roles)

    def knows(self, author: str) -> bool:
        """Return whether the author has a colour already."""
        return author == "user" or author in self._roles

    def role(self, author: str) -> str:
        """Return the author's colour role."""
        if author == "user":
            return USER_ROLE
        if author not in self._roles:
            self._roles[author] = _AGENT_ROLES[len(self._roles) % len(_AGENT_ROLES)]
        return self._roles[author]

    def sign(self, author: str) -> int:
        """Return how often the colours had been given out before this author got one."""
        return list(self._roles).index(author) // len(_AGENT_ROLES) if author in self._roles and len(self._roles) > len(_AGENT_ROLES) else 0


class GrowingText:
    """The text of a streamed answer so far, put together from its partial events.

    Partials are increments (Gemini's), but one that begins with all the text before it replaces it (seed: event-loop-pattern).
    """

    def __init__(self) -> None:
        self._said = ""
        self._thought = ""
        self._latest: Event | None = None

    def add(self, event: Event) -> None:
        """Take in the next partial event."""
        self._latest = event
        said: list[str] = []
        thought: list[str] = []
        for part in (event.content.parts if event.content else None) or []:
            if part.text:
                (thought if part.thought else said).append(part.text)
        self._said = _grown(self._said, "".join(said))
        self._thought = _grown(self._thought, "".join(thought))

    def event(self) -> Event:
        """Return one partial event that carries the whole text so far."""
        assert self._latest is not None
        parts = [types.Part(text=self._thought, thought=True)] if self._thought else []
        if self._said:
            parts.append(types.Part(text=self._said))
        return self._latest.model_copy(update={"content": types.Content(role="model", parts=parts)})

    def row(self, author_role: str) -> StreamRow:
        """Return the growing row; of a long text its end is shown, where it grows."""
        assert self._latest is not None
        text = self._said or self._thought
        shown = visible(text if len(text) <= 160 else "…" + text[-160:])
        return StreamRow(
            "streaming",
            shown or "…",
            time=clock(self._latest.timestamp),
            author=visible(self._latest.author[:80]),
            icon="comment-dots" if self._said else "lightbulb",
            role="text" if self._said else "dim",
            author_role=author_role,
            event_kind="streaming",
        )


def _grown(before: str, piece: str) -> str:
    return piece if before and piece.startswith(before) else before + piece
