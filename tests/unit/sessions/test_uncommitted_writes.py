"""What a commit does to writes that are recorded, and to values that an open call has read."""

from __future__ import annotations

from typing import Any

from runtime.sessions.state import State
from runtime.sessions.uncommitted_writes import UncommittedWrites


def test_a_committed_write_is_not_reverted_later() -> None:
    state: dict[str, Any] = {}
    delta: dict[str, Any] = {}
    writes = UncommittedWrites(state)
    State(state, delta, writes=writes)["step"] = 1
    writes.commit(delta, dict(delta))
    writes.revert(delta, {})
    assert state == {"step": 1}


def test_a_list_that_an_open_call_has_read_stays_in_the_state_when_another_event_commits_it() -> None:
    cart = ["first"]
    state: dict[str, Any] = {"cart": cart}
    writes = UncommittedWrites(state)
    view = State(state, {}, writes=writes)
    with view.call():
        read = view["cart"]
        state["cart"] = list(cart)  # a commit stores a copy
        writes.commit({}, {"cart": cart})
        read.append("second")
    assert state["cart"] is cart
    assert view.delta == {"cart": ["first", "second"]}


def test_a_commit_shows_the_copy_when_no_call_has_read_the_list() -> None:
    cart, copy = ["first"], ["first"]
    state: dict[str, Any] = {"cart": copy}
    UncommittedWrites(state).commit({}, {"cart": cart})
    assert state["cart"] is copy
