"""The events of the session on show: all at hand, or of a long stored one only those that somebody looks at. No Qt."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

from runtime.events.event import Event

PAGE = 128
"""Events that are read at once."""

PAGES_KEPT = 48
"""Of a long session, the latest looked at; about 6,000 events."""

MOST_WAITING = 8
"""Pages asked for and not here yet. Who scrolls on does not want the first ones any more."""


class SessionEvents(Sequence[Event]):
    """A session's committed events in commit order. It grows while the session runs.

    Args:
        events: those at hand; of a long session, those that came after the stored ones.
        stored_count: how many stored events stand before them and are read page by page.
        decode: makes an event of a stored row, which begins with its id.
        ask: called when a page is wanted that is not here and none was before; whoever reads it then takes pages from `next_wanted` and
            brings them with `put` until nothing is wanted.
    """

    def __init__(
        self,
        events: Iterable[Event] = (),
        *,
        stored_count: int = 0,
        decode: Callable[[Any], Event] | None = None,
        ask: Callable[[], None] | None = None,
    ) -> None:
        self._since = list(events)
        self._stored_count = stored_count
        self._decode = decode
        self._ask = ask
        self._pages: OrderedDict[int, list[Any]] = OrderedDict()
        self._wanted: list[int] = []
        self._places = {event.id: index for index, event in enumerate(self._since, stored_count)}

    @property
    def is_long(self) -> bool:
        """Whether there are events that have to be read first."""
        return self._stored_count > 0

    @property
    def at_hand(self) -> list[Event]:
        """Events that need no reading: all of a short session, of a long one those committed since it was opened."""
        return self._since

    def __len__(self) -> int:
        """Return how many events there are."""
        return self._stored_count + len(self._since)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | Sequence[Event]:
        """Return an event that is here.

        Raises:
            LookupError: it has to be read first: see `peek`.
        """
        if isinstance(index, slice):
            places = range(*index.indices(len(self)))
            if places.step == 1 and places.start >= self._stored_count:
                return self._since[places.start - self._stored_count : places.stop - self._stored_count]
            return [self[place] for place in places]
        event = self.peek(index if index >= 0 else len(self) + index)
        if event is None:
            raise LookupError(f"Event {index} is not read yet.")
        return event

    def peek(self, index: int, *, ask: bool = True) -> Event | None:
        """Return an event if it is here; else None, and unless told otherwise it is asked for.

        Raises:
            IndexError: there is no such event.
        """
        if not 0 <= index < len(self):
            raise IndexError(index)
        if index >= self._stored_count:
            return self._since[index - self._stored_count]
        number, offset = divmod(index, PAGE)
        page = self._pages.get(number)
        if page is None:
            if ask:
                self._want(number)
            return None
        self._pages.move_to_end(number)
        found = page[offset]
        if not isinstance(found, Event):
            assert self._decode is not None
            found = page[offset] = self._decode(found)
        return found

    def index_of(self, event_id: str) -> int | None:
        """Return the place of an event at hand, None of one that has to be looked up where it is stored."""
        return self._places.get(event_id)

    def last_ids(self, count: int) -> list[str]:
        """Return the ids of the last events, as far as they are here; events are not made for that."""
        ids: list[str] = []
        for index in range(max(len(self) - count, 0), self._stored_count):
            page = self._pages.get(index // PAGE)
            if page is not None:
                found = page[index % PAGE]
                ids.append(found.id if isinstance(found, Event) else found[0])
        return ids + [event.id for event in self._since[-count:]]

    def append(self, event: Event) -> None:
        """Add an event that was just committed."""
        self._places[event.id] = self._stored_count + len(self._since)
        self._since.append(event)

    def hand_over(self, count: int, decode: Callable[[Any], Event] | None = None) -> None:
        """Let go of the first events at hand: they are stored by now, and read page by page like those before.

        Args:
            count: how many.
            decode: makes an event of a stored row; as before if None.
        """
        self._decode = decode or self._decode
        self._pages.pop(self._stored_count // PAGE, None)  # it may end where they begin
        for event in self._since[:count]:
            self._places.pop(event.id, None)
        self._since = self._since[count:]  # another list: somebody may be going through the old one on a thread
        self._stored_count += count

    def twin(self) -> SessionEvents:
        """Return these events once more, with the same pages, for somebody who adds the new ones himself."""
        twin = SessionEvents(self._since, stored_count=self._stored_count, decode=self._decode, ask=self._ask)
        twin._pages, twin._wanted = self._pages, self._wanted
        return twin

    # pages

    def _want(self, number: int) -> None:
        if number in self._wanted:
            return
        self._wanted.append(number)
        del self._wanted[:-MOST_WAITING]
        if len(self._wanted) == 1 and self._ask is not None:
            self._ask()

    def next_wanted(self) -> tuple[int, int] | None:
        """Return the places to read next, from and without end: those asked for last come first."""
        if not self._wanted:
            return None
        first = self._wanted[-1] * PAGE
        return first, min(first + PAGE, self._stored_count)

    def put(self, first: int, rows: list[Any]) -> None:
        """Take in a page.

        Args:
            first: the place of its first row, as `next_wanted` told.
            rows: of the stored events.
        """
        number = first // PAGE
        if len(rows) < min(PAGE, self._stored_count - first):
            return  # read before the events behind it were stored; it is still wanted
        if number in self._wanted:
            self._wanted.remove(number)
        self._pages[number] = rows
        while len(self._pages) > PAGES_KEPT:
            self._pages.popitem(last=False)

    def holds(self, index: int) -> bool:
        """Return whether an event is here; nothing is asked for."""
        return index >= self._stored_count or index // PAGE in self._pages
