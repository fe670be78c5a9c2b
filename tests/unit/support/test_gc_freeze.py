"""Pausing garbage collection and freezing long-lived objects."""

from __future__ import annotations

import gc

import pytest

from runtime.support.gc_freeze import collection_paused, frozen_from_gc


def test_collection_is_paused_until_the_outermost_block_ends() -> None:
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collection_resumes_after_an_error() -> None:
    with pytest.raises(ValueError), frozen_from_gc():
        raise ValueError
    assert gc.isenabled()


def test_frozen_objects_are_not_tracked() -> None:
    with frozen_from_gc():
        lasting = [[number] for number in range(1_000)]
    try:
        assert gc.isenabled()
        tracked = {id(found) for found in gc.get_objects()}
        assert not tracked & {id(each) for each in lasting}
    finally:
        gc.unfreeze()
