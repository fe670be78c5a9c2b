"""The garbage collector is kept away from what stays."""

from __future__ import annotations

import gc

import pytest

from runtime.support.gc_freeze import collection_paused, frozen_from_gc


def test_nothing_is_collected_meanwhile_and_then_again() -> None:
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collection_goes_on_after_a_failure() -> None:
    with pytest.raises(ValueError), frozen_from_gc():
        raise ValueError
    assert gc.isenabled()


def test_what_is_made_to_stay_is_not_looked_at_again() -> None:
    with frozen_from_gc():
        lasting = [[number] for number in range(1_000)]
    try:
        assert gc.isenabled()
        tracked = {id(found) for found in gc.get_objects()}
        assert not tracked & {id(each) for each in lasting}
    finally:
        gc.unfreeze()
