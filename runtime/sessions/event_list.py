"""A list of events that are decoded or copied on first access."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from copy import deepcopy
from typing import Any, SupportsIndex, cast, overload

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from runtime.events.event import Event
from runtime.support.gc_freeze import collection_paused

# An event as a service stores it: id, invocation id, any further values, and last its JSON text or the event to copy.
StoredRow = tuple[Any, ...]

_AT_ONCE = 500  # maximum number of rows decoded per step of an iteration
_NEWEST = 4_000  # events of a run that stay decoded once they are stored; older ones take a fifth of the memory as rows


class _Index:
    """An index of a list's events.

    Attributes:
        count: number of indexed items.
        places: invocation id → indices.
        rewinds: index of a rewind event → the first rewound invocation.
    """

    __slots__ = ("count", "places", "rewinds")

    def __init__(self) -> None:
        self.count = 0
        self.places: dict[str, list[int]] = {}
        self.rewinds: dict[int, str] = {}


class EventList(MutableSequence[Event]):
    """A list of events, the type of `Session.events`. Stored rows are decoded on first access, so that long sessions load fast.

    It is not a subclass of `list`, as C code reads a list's items directly and would find undecoded rows.

    Attributes:
        edited: whether code other than a session service changed the list, so that it no longer matches the stored events.
        is_of_run: whether a service returned the list for a run, which has to notice events that others append.

    Args:
        items: events and undecoded rows.
        read: decodes a row; required if there are rows.
    """

    __slots__ = ("_derived", "_index", "_items", "_newest", "_read", "edited", "is_of_run")

    def __init__(self, items: Iterable[Event | StoredRow] = (), read: Callable[[StoredRow], Event] | None = None) -> None:
        self._items: list[Event | StoredRow] = list(items)
        self._read = read
        # Created on demand: thousands of listed sessions have no events.
        self._index: _Index | None = None
        self._derived: dict[Any, Any] | None = None
        self._newest: deque[tuple[int, Event, StoredRow]] | None = None
        self.edited = self.is_of_run = False

    @property
    def derived(self) -> dict[Any, Any]:
        """Data computed from the events, kept so that it can be extended as the list grows.

        Cleared when an event is replaced, moved or removed.
        """
        if self._derived is None:
            self._derived = {}
        return self._derived

    def of_invocation(self, invocation_id: str) -> list[Event]:
        """Return an invocation's events in order, without decoding others."""
        return [self._at(index) for index in self._indexed().places.get(invocation_id, ())]

    def rewinds(self) -> dict[int, str]:
        """Return the index of each rewind event → the first rewound invocation, without decoding other events."""
        return self._indexed().rewinds

    def last_of_invocation(self, invocation_id: str) -> Event | None:
        """Return an invocation's last event, without decoding others; None if it has no event."""
        places = self._indexed().places.get(invocation_id)
        return self._at(places[-1]) if places else None

    def invocation_id(self, index: int) -> str:
        """Return an event's invocation id without decoding it."""
        item = self._items[index]
        invocation_id: str = item[1] if type(item) is tuple else cast(Event, item).invocation_id
        return invocation_id

    def choose(self, indices: Iterable[int]) -> EventList:
        """Return a new list of the events at the given indices."""
        return EventList([self._items[index] for index in indices], self._read)

    def last_id(self) -> str | None:
        """Return the last event's id without decoding it; None if there are no events."""
        item = self._items[-1] if self._items else None
        return item[0] if type(item) is tuple else item.id if isinstance(item, Event) else None

    def ends_as(self, stored: Sequence[Event]) -> bool:
        """Return whether a service's own events are as many, and the last of them is the last here."""
        items = self._items
        return len(items) == len(stored) and (not items or items[-1] is stored[-1])

    def add_committed(self, items: Iterable[Event | StoredRow]) -> None:
        """Append newly stored events; for session services."""
        self._items.extend(items)

    def is_read_by(self, read: Callable[[StoredRow], Event]) -> bool:
        """Return whether a function decodes this list's rows; the session may come from another service than the one that stores it."""
        return self._read is read

    def add_stored(self, event: Event, row: StoredRow | None) -> None:
        """Append an event that a service has just stored, and replace one that is no longer among the newest by its row.

        Args:
            event: the event.
            row: what `read` decodes into an equal event; None if the service has none.
        """
        items = self._items
        items.append(event)
        if row is None or self._read is None:
            return
        if self._newest is None:
            self._newest = deque()
        newest = self._newest
        newest.append((len(items) - 1, event, row))
        if len(newest) > _NEWEST:
            index, older, stored = newest.popleft()
            if index < len(items) and items[index] is older:  # otherwise an agent has edited the list
                items[index] = stored

    def copy(self) -> EventList:
        """Return a new list of the same events."""
        return EventList(self._items, self._read)

    def _indexed(self) -> _Index:
        """Return the updated index."""
        found = self._index
        if found is None:
            found = self._index = _Index()
        places = found.places
        for index in range(found.count, len(self._items)):
            item = self._items[index]
            invocation_id = item[1] if type(item) is tuple else item.__dict__["invocation_id"]
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
        item: Any = self._items[index]
        if type(item) is tuple:
            assert self._read is not None
            self._items[index] = item = self._read(item)
        event: Event = item
        return event

    def _edit(self) -> None:
        self.edited = True
        self._derived = self._index = None

    # The interface of a list

    @overload
    def __getitem__(self, index: SupportsIndex) -> Event: ...
    @overload
    def __getitem__(self, index: slice[Any, Any, Any]) -> list[Event]: ...
    def __getitem__(self, index: SupportsIndex | slice[Any, Any, Any]) -> Event | list[Event]:
        if isinstance(index, slice):
            with collection_paused():
                return [self._at(each) for each in range(len(self._items))[index]]
        item = self._items[index]
        return self._at(index) if type(item) is tuple else cast(Event, item)

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
                # Decode growing batches: an early stop wastes little, and a full iteration pauses the collector seldom.
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

    __hash__ = None  # type: ignore[assignment]  # unhashable, like a list

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
        """Return a schema that validates and serialises like a list of events."""
        events = handler(list[Event])
        return core_schema.no_info_wrap_validator_function(
            lambda value, validate: value.copy() if isinstance(value, cls) else cls(validate(value)),
            events,
            serialization=core_schema.wrap_serializer_function_ser_schema(lambda value, dump: dump(list(value)), schema=events),
        )


def _may_rewind(item: Event | StoredRow) -> bool:
    content = item[-1] if type(item) is tuple else item
    if isinstance(content, str):
        return '"rewind' in content
    return isinstance(content, bytes) or cast(Event, content).actions.rewind_before_invocation_id is not None


def events_of(events: Sequence[Event], invocation_id: str) -> list[Event]:
    """Return an invocation's events in order.

    Args:
        events: a session's events; in an `EventList`, only those of the invocation are decoded.
        invocation_id: the invocation.
    """
    if isinstance(events, EventList):
        return events.of_invocation(invocation_id)
    return [event for event in events if event.invocation_id == invocation_id]
