"""Events on their way from a file into a database: in a temporary file, as a session may have more of them than memory has room for."""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections.abc import Iterable, Sequence
from typing import overload

from runtime.events.event import Event

_IN_MEMORY = 8_000_000  # bytes


class SpooledEvents(Sequence[Event]):
    """Events that are decoded each time they are asked for.

    Args:
        events: the first events.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._ends = array("Q", [0])
        for event in events:
            self.append(event)

    def append(self, event: Event) -> None:
        """Add an event.

        Raises:
            OSError: the disk of temporary files is full.
        """
        data = event.model_dump_json(exclude_none=True).encode()
        self._file.seek(self._ends[-1])
        self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | Sequence[Event]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        self._file.seek(self._ends[place])
        return Event.model_validate_json(self._file.read(self._ends[place + 1] - self._ends[place]))
