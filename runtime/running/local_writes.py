"""Direct writes to `ctx.session.state`: visible to the rest of the invocation, but not stored. Only event deltas are stored."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from runtime.contexts.invocation_context import InvocationContext
from runtime.sessions.state import State, independent

logger = logging.getLogger(__name__)


def snapshot(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a session's state that later in-place changes do not affect.

    Values of `temp:` keys may be arbitrary objects that cannot be copied, so they are shared.
    """
    temp = {key: value for key, value in state.items() if key.startswith(State.TEMP_PREFIX)}
    return {**independent({key: value for key, value in state.items() if key not in temp}), **temp}


def take_back_local_writes(ctx: InvocationContext) -> None:
    """Reset the state to the last committed one, discarding direct writes too."""
    committed = snapshot(ctx.shared.committed_state)
    ctx.session.state.clear()
    ctx.session.state.update(committed)
    ctx.writes.clear()


def warn_of_lost_writes(ctx: InvocationContext) -> None:
    """Log, at the end of a run, the keys that were written without an event."""
    committed = ctx.shared.committed_state
    lost = [key for key, value in ctx.session.state.items() if key not in committed or committed[key] is not value]
    lost = [key for key in lost if not key.startswith(State.TEMP_PREFIX) and not _is_same(committed.get(key), ctx.session.state[key])]
    if lost:
        logger.warning(
            "These state keys were changed without an event and are not stored: %s. Write through a context's state, or yield an event"
            " with a state_delta.",
            ", ".join(sorted(lost)),
        )


def _is_same(one: Any, other: Any) -> bool:
    try:
        return bool(one is other or one == other)
    except BaseException:  # the value's own code
        return False
