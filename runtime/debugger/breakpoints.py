"""Breakpoints and logpoints: pure predicates over events, stored between sessions as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator

from runtime.errors.known_error import KnownError
from runtime.events.event import Event
from runtime.expressions import Expression, ExpressionTooCostlyError, Template, parse
from runtime.expressions.tokens import quoted

When = Literal["event", "before model", "before tool", "error"]


class BreakpointsFileError(KnownError):
    """Stored breakpoints cannot be read; the message says why."""


class Breakpoint(BaseModel):
    """One breakpoint.

    Attributes:
        id: its number, assigned by its list.
        when: at a committed event, before a model call, before a tool call, or at an error: an event with an error, or an exception of a
            tool, a model or an agent.
        condition: an expression that must also hold; empty: always. Before a tool call it is evaluated on an event with just this call;
            before a model call, and at an exception, on an event with only author, branch and error.
        tool: before a tool call: the tool's name; empty: any tool.
        enabled: whether it counts hits and stops.
        after: ignore the first n hits.
        every: of the later hits, stop on every n-th one: with 3 on the 3rd, the 6th, and so on.
        log: a text to log instead of stopping, with values in braces (see `Template`); empty: stop.
    """

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    id: int = 0
    when: When = "event"
    condition: str = ""
    tool: str = ""
    enabled: bool = True
    after: int = Field(default=0, ge=0)
    every: int = Field(default=1, ge=1)
    log: str = ""

    _hits: int = PrivateAttr(default=0)
    _expression: Expression | None = PrivateAttr(default=None)
    _template: Template | None = PrivateAttr(default=None)
    _problem: str = PrivateAttr(default="")

    @field_validator("condition")
    @classmethod
    def _readable_condition(cls, condition: str) -> str:
        if condition.strip():
            parse(condition)
        return condition.strip()

    @field_validator("log")
    @classmethod
    def _readable_log(cls, log: str) -> str:
        Template(log)
        return log

    @property
    def hits(self) -> int:
        """The number of hits since it was made or reset."""
        return self._hits

    @property
    def problem(self) -> str:
        """Why its condition could not be evaluated last time; empty if it could."""
        return self._problem

    @property
    def uses_state(self) -> bool:
        """Whether its condition or log text reads state."""
        return "state" in self.condition or "state" in self.log

    def reset_hits(self) -> None:
        """Set the hit count to 0."""
        self._hits = 0

    def __str__(self) -> str:
        where = {"event": "", "error": "on an error", "before model": "before a model call"}.get(self.when)
        if where is None:
            where = f"before tool {self.tool}" if self.tool else "before any tool call"
        return ": ".join(filter(None, [where, self.condition])) or "every event"

    def met(self, when: When, event: Event, state_before: Mapping[str, Any] | None, tool: str = "") -> bool:
        """Count a hit if the breakpoint applies here.

        Args:
            when: the kind of place.
            event: the event, or an event that represents the call.
            state_before: the state before it.
            tool: the tool about to be called.

        Returns:
            Whether to stop or log here.
        """
        if not self.enabled or self.when != when or (self.tool and self.tool != tool):
            return False
        if not self._holds(event, state_before):
            return False
        self._hits += 1
        return self._hits > self.after and (self._hits - self.after) % self.every == 0

    def message(self, event: Event, state_before: Mapping[str, Any] | None) -> str:
        """Return a logpoint's text for an event."""
        if self._template is None or self._template.source != self.log:
            self._template = Template(self.log)
        try:
            return self._template.fill(event, state_before)
        except ExpressionTooCostlyError as error:
            return str(error)

    def matches(self, event: Event, state_before: Mapping[str, Any] | None) -> bool:
        """Return whether the condition holds at an event, without counting a hit. The condition is parsed once.

        Args:
            event: the event.
            state_before: the state before it; None if it is unknown.

        Raises:
            ExpressionTooCostlyError: evaluating the condition takes too many steps.
        """
        if not self.condition:
            return True
        if self._expression is None or self._expression.source != self.condition:
            self._expression = parse(self.condition)
        return self._expression.matches(event, state_before)

    def _holds(self, event: Event, state_before: Mapping[str, Any] | None) -> bool:
        self._problem = ""
        try:
            return self.matches(event, state_before)
        except ExpressionTooCostlyError as error:
            self._problem = str(error)
            return False


class Breakpoints:
    """The breakpoints of one agent.

    Args:
        on_change: called after a breakpoint is added, changed or removed.
        on_hit: called after a hit is counted or the counts are reset; `on_change` if None.
    """

    def __init__(self, on_change: Callable[[], None] | None = None, on_hit: Callable[[], None] | None = None) -> None:
        self._all: dict[int, Breakpoint] = {}
        self._listeners: list[Callable[[], None]] = [on_change] if on_change is not None else []
        self._on_hit = on_hit or self._on_change

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after a breakpoint is added, changed or removed, too; return a function that ends this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _on_change(self) -> None:
        for listener in list(self._listeners):
            listener()

    @property
    def use_state(self) -> bool:
        """Whether one of them reads state."""
        return any(one.uses_state for one in self._all.values())

    def get(self, number: int) -> Breakpoint | None:
        """Return the breakpoint with this id."""
        return self._all.get(number)

    def add(
        self,
        condition: str = "",
        *,
        when: When = "event",
        tool: str = "",
        after: int = 0,
        every: int = 1,
        log: str = "",
        enabled: bool = True,
    ) -> Breakpoint:
        """Add a breakpoint; see `Breakpoint`.

        Raises:
            ExpressionError: the condition or the log text cannot be read.
        """
        if condition.strip():
            parse(condition)  # pydantic would wrap the error and lose its position
        Template(log)
        new = Breakpoint(
            id=max(self._all, default=0) + 1, when=when, condition=condition, tool=tool, after=after, every=every, log=log, enabled=enabled
        )
        self._all[new.id] = new
        self._on_change()
        return new

    def change(self, number: int, **changes: Any) -> Breakpoint:
        """Change fields of a breakpoint; its hits are kept.

        Args:
            number: its id.
            changes: fields of `Breakpoint`.

        Raises:
            ExpressionError: the condition or the log text cannot be read; nothing is changed.
            KeyError: no breakpoint has this id.
        """
        if str(changes.get("condition") or "").strip():
            parse(changes["condition"])
        Template(changes.get("log") or "")
        changed = self._all[number]
        for field, value in changes.items():
            setattr(changed, field, value)
        self._on_change()
        return changed

    def remove(self, number: int) -> None:
        """Remove a breakpoint, if it exists."""
        if self._all.pop(number, None) is not None:
            self._on_change()

    def clear(self) -> None:
        """Remove all breakpoints."""
        self._all.clear()
        self._on_change()

    def reset_hits(self) -> None:
        """Set all hit counts to 0, as at the start of a run."""
        for one in self:
            one.reset_hits()
        self._on_hit()

    def met(self, when: When, event: Event, state_before: Mapping[str, Any] | None, tool: str = "") -> list[Breakpoint]:
        """Return the breakpoints that stop or log here; see `Breakpoint.met`."""
        hits = {one.id: one.hits for one in self}
        found = [one for one in self if one.met(when, event, state_before, tool)]
        if any(one.hits != hits[one.id] for one in self):
            self._on_hit()
        return found

    def to_json(self) -> str:
        """Return all breakpoints as JSON, without their hits."""
        return json.dumps([one.model_dump(exclude_defaults=True) | {"id": one.id} for one in self])

    def load_json(self, text: str) -> None:
        """Replace all breakpoints by the result of `to_json`.

        Raises:
            BreakpointsFileError: the text cannot be read; nothing is changed.
        """
        try:
            entries = json.loads(text)
            if not isinstance(entries, list):
                raise ValueError("it is not a list")
            loaded = [Breakpoint.model_validate(entry) for entry in entries]
        except (ValueError, RecursionError) as error:  # ValidationError and ExpressionError are ValueErrors
            reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
            raise BreakpointsFileError(f"The stored breakpoints cannot be read: {reason}") from None
        self._all = {one.id: one for one in loaded}
        self._on_change()


def condition_for(event: Event) -> str:
    """Return a suggested condition that matches events like this one: by tool, error, state key or author.

    Args:
        event: an example.
    """
    names = [call.name for call in event.get_function_calls()]
    if names:
        return f"call == {quoted(names[0] or '')}"
    names = [response.name for response in event.get_function_responses()]
    if names:
        return f"response == {quoted(names[0] or '')}"
    if event.error_code or event.error_message:
        return f"error and author == {quoted(event.author)}"
    if event.actions.state_delta:
        key = next(iter(event.actions.state_delta))
        return f"state[{quoted(key)}] changed"
    return f"author == {quoted(event.author)}"
