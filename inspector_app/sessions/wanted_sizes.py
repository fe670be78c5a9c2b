"""Which sessions' sizes a view has asked for and nobody has told yet."""

from __future__ import annotations

from runtime.sessions.session import SessionKey

MOST_WANTED = 200
"""Sessions whose sizes are asked for at a time: those looked at last; the others ask again when they are looked at again."""


class WantedSizes:
    """Remembers what was looked at, the latest last."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, SessionKey], None] = {}

    def add(self, database: str, session: SessionKey) -> None:
        """Note that a session was looked at."""
        place = (database, session)
        self._places.pop(place, None)
        self._places[place] = None
        if len(self._places) > MOST_WANTED:
            del self._places[next(iter(self._places))]

    def take(self, most: int) -> tuple[str, list[SessionKey]]:
        """Return the database looked at last and some of its sessions, the latest first; they are wanted no more.

        Args:
            most: at most this many.
        """
        if not self._places:
            return "", []
        database = next(reversed(self._places))[0]
        places = [place for place in reversed(self._places) if place[0] == database][:most]
        for place in places:
            del self._places[place]
        return database, [session for _, session in places]
