"""The words for how a session, an invocation or a run is, and their signs: the one list for the window; see docs/specification.md.

Words are those of `Invocation.word` and, of a run that this window drives or watches, `held` and `running`. No Qt.
"""

from __future__ import annotations

from typing import NamedTuple


class Sign(NamedTuple):
    """How a word is shown.

    Attributes:
        icon: Font Awesome name.
        role: colour role. Amber is for held and waiting.
        meaning: the word explained, for a tooltip.
    """

    icon: str
    role: str
    meaning: str


SIGNS = {
    "finished": Sign("circle-check", "ok", "finished"),
    "waiting": Sign("hand", "warn", "waiting: a person has to answer"),
    "interrupted": Sign("triangle-exclamation", "bad", "interrupted: an invocation did not end; it can be resumed"),
    "stopped": Sign("circle-stop", "dim", "stopped by a person; it can be resumed"),
    "failed": Sign("circle-xmark", "bad", "failed with an error; it can be resumed"),
    "held": Sign("circle-pause", "warn", "held: it continues when you say so"),
    "running": Sign("circle-play", "accent", "running now"),
    "rewound": Sign("rotate-left", "dim", "rewound: taken back"),
    "unfinished": Sign("ellipsis", "dim", "unfinished: another process may still run it"),
}
NO_SIGN = Sign("message", "dim", "")

# What a session waits for.
REQUESTS = {
    "confirmation": Sign("hand", "warn", "waits for a confirmation"),
    "long_running": Sign("hourglass-half", "warn", "waits for the response of a long-running call"),
    "credential": Sign("key", "warn", "waits for a credential"),
}
