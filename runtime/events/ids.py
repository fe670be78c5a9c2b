"""Identifiers: 128 random bits in uuid4's form.

google-adk calls `uuid.uuid4` for every id, which costs a system call and an object each time. A private generator, seeded from the
operating system and again after a fork, costs a tenth; it is private so that an agent's `random.seed()` cannot make ids repeat.
"""

from __future__ import annotations

import os
import random

_bits = random.Random(os.urandom(32))
os.register_at_fork(after_in_child=lambda: _bits.seed(os.urandom(32)))


def new_uuid() -> str:
    """Return a new random identifier in the form of a uuid4."""
    digits = f"{_bits.getrandbits(128):032x}"
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def new_invocation_id() -> str:
    """Return a new invocation id, `e-<uuid>` as google-adk writes it."""
    return "e-" + new_uuid()


def new_function_call_id() -> str:
    """Return an id for a function call that the model left without one, `adk-<uuid>` as google-adk writes it."""
    return "adk-" + new_uuid()
