"""Identifiers: 120 random bits in uuid4's form.

`uuid.uuid4` costs a system call and an object for each id. Here a generator is seeded from the operating system at import and after a
fork. It is private, so that an agent's `random.seed()` cannot make ids repeat.
"""

from __future__ import annotations

import json
import os
import random
import uuid
from typing import Any

_bits = random.Random(os.urandom(32))
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=lambda: _bits.seed(os.urandom(32)))


def new_uuid() -> str:
    """Return a new random identifier in uuid4's format."""
    digits = f"{_bits.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def new_invocation_id() -> str:
    """Return a new invocation id, `e-<uuid>` as google-adk writes it."""
    return "e-" + new_uuid()


def inner_function_call_id(outer_id: str, *call: Any) -> str:
    """Return the id of a call made inside another call, by an agent that runs as a tool.

    The same arguments give the same id, as the outer call may be run again after a crash and its agent then starts over.

    Args:
        outer_id: the outer call's id.
        *call: JSON values that identify the inner call within that run.
    """
    return f"adk-{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([outer_id, *call], sort_keys=True, default=str))}"


def new_function_call_id() -> str:
    """Return an id for a function call that has none from the model, `adk-<uuid>` as google-adk writes it."""
    return "adk-" + new_uuid()
