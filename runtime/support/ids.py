"""Identifiers: 120 random bits in uuid4's form.

google-adk calls `uuid.uuid4` for every id, which costs a system call and an object each time. A private generator, seeded from the
operating system and again after a fork, costs a tenth; it is private so that an agent's `random.seed()` cannot make ids repeat.
"""

from __future__ import annotations

import json
import os
import random
import uuid
from typing import Any

_bits = random.Random(os.urandom(32))
if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=lambda: _bits.seed(os.urandom(32)))


def new_uuid() -> str:
    """Return a new random identifier in the form of a uuid4."""
    digits = f"{_bits.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def new_invocation_id() -> str:
    """Return a new invocation id, `e-<uuid>` as google-adk writes it."""
    return "e-" + new_uuid()


def inner_function_call_id(outer_id: str, *call: Any) -> str:
    """Return the id of a call that is made inside another one, by an agent that runs as a tool.

    The outer call may be executed again after a crash and the agent then begins anew, so what makes the id is the same then too.

    Args:
        outer_id: of the outer call.
        *call: what tells the inner call from others of that run; JSON values.
    """
    return f"adk-{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([outer_id, *call], sort_keys=True, default=str))}"


def new_function_call_id() -> str:
    """Return an id for a function call that the model left without one, `adk-<uuid>` as google-adk writes it."""
    return "adk-" + new_uuid()
