"""Events with google-adk's JSON names, as its server sends them and `adk web` saves and loads them."""

from __future__ import annotations

import json
from typing import Any

from pydantic.alias_generators import to_camel

from runtime.events.event import Event


def google_event(event: Event) -> dict[str, Any]:
    """Return an event with google-adk's names, also of fields that only its newer versions know.

    Args:
        event: the event; leave out its credentials before.
    """
    dumped = json.loads(event.model_dump_json(by_alias=True, exclude_none=True))  # not model_dump, which keeps NaN
    found = {to_camel(name): value for name, value in dumped.items()}
    found["actions"] = {to_camel(name): value for name, value in found["actions"].items()}
    if isinstance(found.get("nodeInfo"), dict):
        found["nodeInfo"] = {to_camel(name): value for name, value in found["nodeInfo"].items() if value is not None}
    return found
