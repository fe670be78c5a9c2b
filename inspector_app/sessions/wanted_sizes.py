"""The sessions whose sizes a view has requested and that are not measured yet."""

from __future__ import annotations

from runtime.sessions.session_key import SessionKey

MOST_WANTED = 200  # sessions, the latest displayed; the view requests earlier ones again when it displays them


class WantedSizes:
    """The requested sessions, the latest last."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, SessionKey], None] = {}

    def add(self, database: str, session: SessionKey) -> None:
        """Request the size of a displayed session."""
        place = (database, session)
        self._places.pop(place, None)
        self._places[place] = None
        if len(self._places) > MOST_WANTED:
            del self._places[next(iter(self._places))]

    def take(self, most: int) -> tuple[str, list[SessionKey]]:
        """Remove and return the latest database and its requested sessions, the latest first.

        Args:
            most: the largest number of sessions to return.
        """
        if not self._places:
            return "", []
        database = next(reversed(self._places))[0]
        places = [place for place in reversed(self._places) if place[0] == database][:most]
        for place in places:
            del self._places[place]
        return database, [session for _, session in places]
