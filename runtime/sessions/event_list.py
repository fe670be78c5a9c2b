"""A session's events, each decoded or copied when somebody first looks at it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from copy import deepcopy
from typing import Any, SupportsIndex, cast, overload

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from runtime.events.event import Event
from runtime.support.gc_freeze import collection_paused

StoredRow = tuple[Any, ...]
"""An event as a service keeps it: its id, its invocation id, whatever else the service makes the event of, and last its JSON text or
the event to be copied."""


_AT_ONCE = 500


class _Index:
    """Where in a list what is.

    Attributes:
        count: how many of its items are looked through.
        places: invocation id → indices.
        rewinds: index → the invocation before which it takes everything back.
    """

    __slots__ = ("count", "places", "rewinds")

    def __init__(self) -> None:
        self.count = 0
        self.places: dict[str, list[int]] = {}
        self.rewinds: dict[int, str] = {}


class EventList(MutableSequence[Event]):
    """What `Session.events` is: as good as a list of events, but loading a session of 10,000 costs nothing for those nobody looks at.

    No subclass of `list`: C code reads a list's items past its methods, and would find rows where events should be.

    Attributes:
        edited: anybody but a session service changed it: it is no longer what is stored.

    Args:
        items: events, and rows of events that nobody has looked at yet.
        read: makes the event of a row; needed if there are rows.
    """

    __slots__ = ("_derived", "_index", "_items", "_read", "edited")

    def __init__(self, items: Iterable[Event | StoredRow] = (), read: Callable[[StoredRow], Event] | None = None) -> None:
        self._items: list[Event | StoredRow] = list(items)
        self._read = read
        # Made when they are needed: thousands of listed sessions have no events.
        self._index: _Index | None = None
        self._derived: dict[Any, Any] | None = None
        self.edited = False

    @property
    def derived(self) -> dict[Any, Any]:
        """What was computed from the events, for whoever wants to extend it as they grow instead of computing it again.

        Gone when any of them is replaced, moved or removed.
        """
        if self._derived is None:
            self._derived = {}
        return self._derived

    def of_invocation(self, invocation_id: str) -> list[Event]:
        """Return an invocation's events in order; no other event is decoded."""
        return [self._at(index) for index in self._indexed().places.get(invocation_id, ())]

    def rewinds(self) -> dict[int, str]:
        """Return where events stand that took something back, and before which invocation; no other event is decoded."""
        return self._indexed().rewinds

    def invocation_id(self, index: int) -> str:
        """Return which invocation an event belongs to, without decoding it."""
        item = self._items[index]
        invocation_id: str = item[1] if type(item) is tuple else cast(Event, item).invocation_id
        return invocation_id

    def choose(self, indices: Iterable[int]) -> EventList:
        """Return another list with some of the events."""
        return EventList([self._items[index] for index in indices], self._read)

    def last_id(self) -> str | None:
        """Return the last event's id, without decoding it; None if there are no events."""
        item = self._items[-1] if self._items else None
        return item[0] if type(item) is tuple else item.id if isinstance(item, Event) else None

    def add_committed(self, items: Iterable[Event | StoredRow]) -> None:
        """Add what is stored now to the end; for session services."""
        self._items.extend(items)

    def copy(self) -> EventList:
        """Return another list of the same events."""
        return EventList(self._items, self._read)

    def _indexed(self) -> _Index:
        """Return where what is, brought up to date."""
        found = self._index
        if found is None:
            found = self._index = _Index()
        places = found.places
        for index in range(found.count, len(self._items)):
            item = self._items[index]
            invocation_id = item[1] if type(item) is tuple else cast(Event, item).invocation_id
            if invocation_id in places:
                places[invocation_id].append(index)
            else:
                places[invocation_id] = [index]
            if _may_rewind(item):
                target = self._at(index).actions.rewind_before_invocation_id
                if target is not None:
                    found.rewinds[index] = target
        found.count = len(self._items)
        return found

    def _at(self, index: SupportsIndex) -> Event:
        item = self._items[index]
        if type(item) is tuple:
            assert self._read is not None
            self._items[index] = item = self._read(item)
        return cast(Event, item)

    def _edit(self) -> None:
        self.edited = True
        self._derived = self._index = None

    # What a list can do

    @overload
    def __getitem__(self, index: SupportsIndex) -> Event: ...
    @overload
    def __getitem__(self, index: slice[Any, Any, Any]) -> list[Event]: ...
    def __getitem__(self, index: SupportsIndex | slice[Any, Any, Any]) -> Event | list[Event]:
        if isinstance(index, slice):
            with collection_paused():
                return [self._at(each) for each in range(len(self._items))[index]]
        return self._at(index)

    @overload
    def __setitem__(self, index: SupportsIndex, value: Event) -> None: ...
    @overload
    def __setitem__(self, index: slice[Any, Any, Any], value: Iterable[Event]) -> None: ...
    def __setitem__(self, index: SupportsIndex | slice[Any, Any, Any], value: Any) -> None:
        self._edit()
        self._items[index] = value

    def __delitem__(self, index: SupportsIndex | slice[Any, Any, Any]) -> None:
        self._edit()
        del self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Event]:
        index = 0
        while index < len(self._items):
            if type(self._items[index]) is tuple:
                # More and more at once: who stops early gets few that he did not want, who goes on pays less for each.
                with collection_paused():
                    for ahead in range(index, min(index + max(1, min(index, _AT_ONCE)), len(self._items))):
                        self._at(ahead)
            yield self._at(index)
            index += 1

    def insert(self, index: SupportsIndex, value: Event) -> None:
        """Insert an event before `index`."""
        self._edit()
        self._items.insert(index, value)

    def append(self, value: Event) -> None:
        """Add an event to the end."""
        self.edited = True
        self._items.append(value)

    def clear(self) -> None:
        """Remove all events."""
        del self[:]

    def sort(self, *, key: Callable[[Event], Any], reverse: bool = False) -> None:
        """Sort the events in place."""
        self[:] = sorted(self, key=key, reverse=reverse)

    def __add__(self, other: Iterable[Event]) -> list[Event]:
        return [*self, *other]

    def __radd__(self, other: Iterable[Event]) -> list[Event]:
        return [*other, *self]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, EventList)):
            return NotImplemented
        return self is other or (len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True)))

    __hash__ = None  # type: ignore[assignment]  # as a list's

    def __repr__(self) -> str:
        return repr(list(self))

    def __copy__(self) -> EventList:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> EventList:
        # Rows never change.
        return EventList((item if type(item) is tuple else deepcopy(item, memo) for item in self._items), self._read)

    def __reduce__(self) -> tuple[type[EventList], tuple[list[Event]]]:
        return EventList, (list(self),)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Say to pydantic: a list of events, from and to JSON and Python data alike."""
        events = handler(list[Event])
        return core_schema.no_info_wrap_validator_function(
            lambda value, validate: value.copy() if isinstance(value, cls) else cls(validate(value)),
            events,
            serialization=core_schema.wrap_serializer_function_ser_schema(lambda value, dump: dump(list(value)), schema=events),
        )


def _may_rewind(item: Event | StoredRow) -> bool:
    content = item[-1] if type(item) is tuple else item
    if isinstance(content, Event):
        return content.actions.rewind_before_invocation_id is not None
    return '"rewind' in content if isinstance(content, str) else True


def events_of(events: Sequence[Event], invocation_id: str) -> list[Event]:
    """Return an invocation's events in order.

    Args:
        events: a session's; of an `EventList` only those are decoded.
        invocation_id: which invocation.
    """
    if isinstance(events, EventList):
        return events.of_invocation(invocation_id)
    return [event for event in events if event.invocation_id == invocation_id]
