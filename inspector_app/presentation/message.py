"""A message for the user, as data."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["info", "warning", "error"]
Remedy = Literal["", "reload", "keys"]


@dataclass(frozen=True, slots=True)
class Message:
    """A message for the user.

    Attributes:
        severity: decides colour, icon, and how long the message bar shows it.
        text: what happened, and what to do about it.
        details: text for a bug report, such as a traceback.
        quiet: shown in the log pane only.
        remedy: what helps: to read the session again, or to set a key; empty for nothing that a button can do.
        line: the number of the line that an agent wrote, if the message is one.
        time: epoch seconds.
    """

    severity: Severity
    text: str
    details: str | None = None
    quiet: bool = False
    remedy: Remedy = ""
    line: int | None = None
    time: float = field(default_factory=time.time)
