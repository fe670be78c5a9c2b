"""A session's events: those in memory, and pages of the stored ones. No Qt."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from runtime.events.event import Event


PAGE = 128  # events read at once
PAGES_KEPT = 48  # pages of a long session in the cache, the latest used; about 6,000 events
MOST_REQUESTED = 8  # requested pages not read yet: a user who scrolls on no longer needs the first ones


class SessionEvents(Sequence["Event"]):
    """A session's committed events in commit order. The sequence grows while the session runs.

    Args:
        events: the events in memory; of a long session, those committed after the stored ones.
        stored_count: number of stored events before them, which are read page by page.
        decode: returns the event of a stored row; a row begins with the event's id.
        on_request: called when a page is requested while no other request is open. The reader then takes pages from
            `next_requested_page` and stores them with `store_page` until none is requested.
    """

    def __init__(
        self,
        events: Iterable[Event] = (),
        *,
        stored_count: int = 0,
        decode: Callable[[Any], Event] | None = None,
        on_request: Callable[[], None] | None = None,
    ) -> None:
        self._in_memory = list(events)
        self._stored_count = stored_count
        self._decode = decode
        self._on_request = on_request
        self._pages: OrderedDict[int, list[Any]] = OrderedDict()
        self._requested: list[int] = []
        self._places = {event.id: index for index, event in enumerate(self._in_memory, stored_count)}

    @property
    def is_long(self) -> bool:
        """Whether some events have to be read from the database."""
        return self._stored_count > 0

    @property
    def stored_count(self) -> int:
        """Number of events read page by page; the events in memory follow them."""
        return self._stored_count

    @property
    def in_memory(self) -> list[Event]:
        """Events that need no reading: all of a short session, of a long one those committed since it was opened."""
        return self._in_memory

    def __len__(self) -> int:
        """Return the number of events."""
        return self._stored_count + len(self._in_memory)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | Sequence[Event]:
        """Return an event in memory or in the page cache.

        Raises:
            LookupError: the event has to be read first; see `cached`.
        """
        if isinstance(index, slice):
            places = range(*index.indices(len(self)))
            if places.step == 1 and places.start >= self._stored_count:
                return self._in_memory[places.start - self._stored_count : places.stop - self._stored_count]
            return [self[place] for place in places]
        event = self.cached(index if index >= 0 else len(self) + index)
        if event is None:
            raise LookupError(f"Event {index} is not read yet.")
        return event

    def cached(self, index: int, *, request: bool = True) -> Event | None:
        """Return an event in memory or in the page cache, else None.

        Args:
            index: the event's place.
            request: request the page of a missing event.

        Raises:
            IndexError: the session has no such event.
        """
        if not 0 <= index < len(self):
            raise IndexError(index)
        if index >= self._stored_count:
            return self._in_memory[index - self._stored_count]
        number, offset = divmod(index, PAGE)
        page = self._pages.get(number)
        if page is None:
            if request:
                self._request(number)
            return None
        self._pages.move_to_end(number)
        found = page[offset]
        if isinstance(found, Sequence):  # a row; an event is not a sequence
            assert self._decode is not None
            found = page[offset] = self._decode(found)
        event: Event = found
        return event

    def is_cached(self, index: int) -> bool:
        """Return whether an event is in memory or in the page cache; no page is requested."""
        return index >= self._stored_count or index // PAGE in self._pages

    def index_of(self, event_id: str) -> int | None:
        """Return the place of an event in memory, None for an event that has to be looked up in the database."""
        return self._places.get(event_id)

    def last_ids(self, count: int) -> list[str]:
        """Return the ids of the last events that are in memory or in the page cache, without decoding any."""
        ids: list[str] = []
        for index in range(max(len(self) - count, 0), self._stored_count):
            page = self._pages.get(index // PAGE)
            if page is not None:
                found = page[index % PAGE]
                ids.append(found[0] if isinstance(found, Sequence) else found.id)
        return ids + [event.id for event in self._in_memory[-count:]]

    def append(self, event: Event) -> None:
        """Append an event that was just committed."""
        self._places[event.id] = self._stored_count + len(self._in_memory)
        self._in_memory.append(event)

    def evict(self, count: int, decode: Callable[[Any], Event] | None = None) -> None:
        """Evict the first events in memory: they are stored, and are read page by page from now on.

        Args:
            count: number of events.
            decode: returns the event of a stored row; None keeps the present one.
        """
        self._decode = decode or self._decode
        self._pages.pop(self._stored_count // PAGE, None)  # the last page may end where the evicted events begin
        for event in self._in_memory[:count]:
            self._places.pop(event.id, None)
        self._in_memory = self._in_memory[count:]  # a new list: a worker thread may be reading the old one
        self._stored_count += count

    # pages

    def _request(self, number: int) -> None:
        if number in self._requested:
            return
        self._requested.append(number)
        del self._requested[:-MOST_REQUESTED]
        if len(self._requested) == 1 and self._on_request is not None:
            self._on_request()

    def next_requested_page(self) -> tuple[int, int] | None:
        """Return the first place of the page to read next and the place after its last; the latest request comes first."""
        if not self._requested:
            return None
        first = self._requested[-1] * PAGE
        return first, min(first + PAGE, self._stored_count)

    def store_page(self, first: int, rows: list[Any]) -> None:
        """Put a page into the cache.

        Args:
            first: the place of its first row, from `next_requested_page`.
            rows: the stored events.
        """
        number = first // PAGE
        if len(rows) < min(PAGE, self._stored_count - first):
            return  # read before events were evicted into this page; the request stays open
        if number in self._requested:
            self._requested.remove(number)
        self._pages[number] = rows
        while len(self._pages) > PAGES_KEPT:
            self._pages.popitem(last=False)
