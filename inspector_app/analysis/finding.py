"""A problem that was found in a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from runtime.sessions.session_key import SessionKey

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")  # the most serious first


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, where it is, and what to do about it.

    Attributes:
        kind: the check that found it, such as `unanswered call`.
        level: `error`: something is lost, wrong or cannot continue; `warning`: it may be; `note`: nothing is wrong, but worth knowing.
        what: what was found, a sentence.
        why: why it matters, a sentence.
        advice: what to do, a sentence.
        key: the session; None if it concerns the whole database.
        event_id: the event; None if it concerns the whole session.
        fix: a command that mends it and is safe: it never changes the database. None if there is none.
    """

    kind: str
    level: Level
    what: str
    why: str
    advice: str
    key: SessionKey | None = None
    event_id: str | None = None
    fix: tuple[str, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it in the command line's JSON form."""
        names = {"app_name": self.key.app_name, "user_id": self.key.user_id, "session_id": self.key.session_id} if self.key else None
        return {
            "kind": self.kind,
            "level": self.level,
            "session": names,
            "event_id": self.event_id,
            "what": self.what,
            "why": self.why,
            "advice": self.advice,
            "fix": list(self.fix) if self.fix else None,
        }
