"""Events as lines of text, for trying an agent out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from runtime.events.event import Event


def transcript(event: Event, *, verbose: bool) -> list[str]:
    """Return an event as lines of text.

    Args:
        event: a partial event gives no lines, as the complete answer follows.
        verbose: include function calls, their results, files and thoughts.
    """
    if event.partial:
        return []
    lines = []
    for part in (event.content.parts if event.content else None) or []:
        if part.text and not part.thought:
            lines.append(part.text)
        elif not verbose:
            continue
        elif part.thought and part.text:
            lines.append(f"[thought] {part.text}")
        elif part.function_call:
            lines.append(f"[calls {part.function_call.name} {_json(part.function_call.args)}]")
        elif part.function_response:
            lines.append(f"[{part.function_response.name} returned {_json(part.function_response.response)}]")
        else:
            lines.append(f"[{', '.join(sorted(part.model_fields_set))}]")
    if event.error_code:
        lines.append(f"[error {event.error_code}] {event.error_message or ''}".rstrip())
    return [f"{event.author} > {line}" for line in lines]


def write_lines(lines: Iterable[str]) -> None:
    """Write lines to the standard output."""
    for line in lines:
        sys.stdout.write(line + "\n")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
