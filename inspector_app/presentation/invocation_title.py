"""What an invocation is called in headers. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from inspector_app.presentation.values import visible

if TYPE_CHECKING:
    from runtime.events import Event

LONGEST = 80  # characters of a title


def invocation_title(events: Iterable[Event]) -> str:
    """Return the first text that a user wrote, its white space folded; empty if there is none.

    Args:
        events: the invocation's first events.
    """
    for event in events:
        if event.author != "user" or event.content is None:
            continue
        text = " ".join(part.text for part in event.content.parts or () if part.text and not part.thought)
        folded = visible(" ".join(text[: 50 * LONGEST].split()))
        if folded:
            return folded if len(folded) <= LONGEST else f"{folded[: LONGEST - 1].rstrip()}…"
    return ""
