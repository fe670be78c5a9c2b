"""A breakpoint or logpoint: a predicate over events, and what happens when it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator

from runtime.expressions import Expression, ExpressionTooCostlyError, Template, parse

if TYPE_CHECKING:
    from runtime.events.event import Event

When = Literal["event", "before model", "before tool", "error"]


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
