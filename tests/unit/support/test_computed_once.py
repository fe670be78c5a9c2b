"""Attributes that are computed when they are first read."""

from __future__ import annotations

import threading

from runtime.events.plain_event import computed_once


class Slow:
    def __init__(self) -> None:
        self.computing = threading.Event()
        self.may_end = threading.Event()
        self.times = 0

    @computed_once
    def value(self) -> int:
        """The value."""
        self.times += 1
        self.computing.set()
        self.may_end.wait()
        return 7


def test_a_value_is_computed_once_and_has_a_docstring() -> None:
    slow = Slow()
    slow.may_end.set()
    assert (slow.value, slow.value, slow.times) == (7, 7, 1)
    assert Slow.value.__doc__ == "The value."


def test_one_instance_does_not_wait_for_another() -> None:
    slow, quick = Slow(), Slow()
    quick.may_end.set()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    slow.computing.wait()
    try:
        assert quick.value == 7, "would wait for ever with a shared lock"
    finally:
        slow.may_end.set()
        thread.join()
    assert slow.value == 7
