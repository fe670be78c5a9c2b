"""An agent's breakpoints and logpoints, stored between sessions as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from runtime.errors.known_error import KnownError
from runtime.expressions import Template, parse
from runtime.expressions.tokens import quoted
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    import pydantic

    from runtime.debugger import breakpoint as models
    from runtime.debugger.breakpoint import Breakpoint, When
    from runtime.events.event import Event
else:
    models = lazy_module("runtime.debugger.breakpoint")
    pydantic = lazy_module("pydantic")


class BreakpointsFileError(KnownError):
    """Stored breakpoints cannot be read; the message says why."""


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
        new = models.Breakpoint(
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
            loaded = [models.Breakpoint.model_validate(entry) for entry in entries]
        except (ValueError, RecursionError) as error:  # ValidationError and ExpressionError are ValueErrors
            reason = error.errors()[0]["msg"] if isinstance(error, pydantic.ValidationError) else error
            raise BreakpointsFileError(f"The stored breakpoints cannot be read: {reason}") from None
        self._all = {one.id: one for one in loaded}
        self._on_change()


def condition_for(event: Event) -> str:
    """Return a suggested condition that matches events like this one: by tool, error, state key or author."""
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
