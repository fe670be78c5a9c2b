"""Untrusted pickles yield data, run nothing, and are read within limits."""

from __future__ import annotations

import builtins
import collections
import contextlib
import datetime
import decimal
import os
import pickle
import random
import sqlite3
import sys
import time
import zoneinfo
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.storage.layouts import unpickle as module
from runtime.storage.layouts.pickled_actions import read_actions
from runtime.storage.layouts.unpickle import Record, UnpickleError, unpickle
from tests.fixture_paths import fixtures_dir, manifest
from tests.sweep import count

SIMPLE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    SIMPLE,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(-(2**60), 2**60), inner),
    max_leaves=30,
)


class Thing:
    def __init__(self) -> None:
        self.x = [1]


class Attack:
    def __reduce__(self) -> Any:
        return os.mkdir, ("PWNED",)


@given(value=VALUES, protocol=st.integers(3, pickle.HIGHEST_PROTOCOL))
def test_plain_data_survives_a_round_trip(value: Any, protocol: int) -> None:
    assert unpickle(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_shared_and_recursive_values_are_read(protocol: int) -> None:
    shared = [1]
    loop: list[Any] = [shared, shared]
    loop.append(loop)
    found = unpickle(pickle.dumps(loop, protocol))
    assert found[0] is found[1]
    assert found[2] is found


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (Thing(), "Thing"),
        (decimal.Decimal("1.5"), "decimal.Decimal"),
        (datetime.datetime(2026, 1, 2), "datetime.datetime"),
        (collections.deque([1]), "collections.deque"),
        (collections.defaultdict(list, a=[1]), "collections.defaultdict"),
        (Attack(), "mkdir"),
        (os.system, "system"),
    ],
)
def test_objects_become_records(thing: Any, name: str, protocol: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = unpickle(pickle.dumps(thing, protocol))
    assert isinstance(found, Record)
    assert protocol < 2 or name in found.name
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_objects_under_temp_keys_are_shown_as_readable_text(protocol: int) -> None:
    delta = {
        "temp:when": datetime.datetime(2026, 11, 21, 12, 30, 5, 250_000),
        "temp:price": decimal.Decimal("1.5"),
        "temp:thing": Thing(),
        "temp:pair": (1, b"\xff"),
        "temp:odd": {(1, 2): 3, None: 4},
        "temp:huge": 1 << 100_000,
        "k": {"x": None},
    }
    read = read_actions(pickle.dumps({"state_delta": delta}, protocol))["state_delta"]
    assert read["temp:when"] == "2026-11-21T12:30:05.250000"
    assert read["temp:price"] == "<decimal.Decimal object: '1.5'>"
    assert read["temp:thing"].endswith("Thing object: {'x': [1]}>")
    assert read["temp:pair"] == [1, "_w=="]
    assert list(read["temp:odd"].values()) == [3, 4]
    assert read["temp:huge"] == "<a whole number of 100001 bits>"
    assert read["k"] == {"x": None}


BERLIN = datetime.timezone(datetime.timedelta(hours=1))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "moment",
    [
        datetime.datetime(2026, 11, 21, 12, 30, 5),
        datetime.datetime(2026, 11, 21, 12, 30, 5, 7),
        datetime.datetime(2026, 11, 21, 12, 30, 5, tzinfo=datetime.UTC),
        datetime.datetime(2026, 11, 21, 12, 30, 5, tzinfo=BERLIN),
        datetime.datetime(2026, 11, 21, 2, 30, fold=1),
        datetime.date(2026, 11, 21),
        datetime.time(12, 30, 5),
        datetime.time(12, 30, 5, tzinfo=datetime.UTC),
        datetime.datetime.min,
        datetime.datetime.max,
    ],
    ids=str,
)
def test_every_pickled_time_is_read_in_its_iso_form(moment: Any, protocol: int) -> None:
    assert read_actions(pickle.dumps({"state_delta": {"temp:when": moment}}, protocol))["state_delta"]["temp:when"] == moment.isoformat()


def test_a_pickled_time_has_the_name_of_a_zone_whose_offset_is_not_stored() -> None:
    moment = datetime.datetime(2026, 11, 21, 12, 30, 5, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
    read = read_actions(pickle.dumps({"state_delta": {"temp:when": moment}}))["state_delta"]["temp:when"]
    assert read == "2026-11-21T12:30:05[Europe/Berlin]"


def _nested(depth: int) -> bytes:
    return b"\x80\x04}\x8c\x0bstate_delta" + b"}\x8c\x01a" * depth + b"K\x01" + b"s" * depth + b"s."


def _doubled(times: int) -> bytes:
    return (
        b"\x80\x04}\x8c\x0bstate_delta}\x8c\x01a]\x94"
        + b"".join(b"(h" + bytes([n]) + b"h" + bytes([n]) + b"l\x94" for n in range(times))
        + b"ss."
    )


BOMBS = {
    "nested": _nested(100_000),
    "doubled": _doubled(100),
    "tuples": b"\x80\x04})" + b"2\x86" * 5000 + b"K\x01s.",
    "memo": b"\x80\x04Kr" + b"r\xff\xff\xff\xff" + b".",
    "long text": b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f.",
    "negative": b"\x80\x04\x8b\xff\xff\xff\xff.",
    "digits": b"I" + b"9" * 1_000_000 + b"\n.",
    "marks": b"(" * 100_000 + b".",
    "nothing": b"",
    "no end": b"\x80\x04",
    "empty stack": b"\x80\x04.",
    "colliding": pickle.dumps({n * (2**61 - 1): 0 for n in range(3_000)}),
    "call of data": b"\x80\x04K\x01)R.",
    "extension": b"\x80\x04\x82\x01.",
    "buffer": b"\x80\x05\x97.",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_a_pickle_bomb_is_refused_or_harmless(bomb: bytes) -> None:
    begun = time.thread_time()
    try:
        read_actions(bomb)
    except UnpickleError as error:
        assert str(error)
    assert time.thread_time() - begun < 5


def test_reading_stops_at_the_time_limit() -> None:
    with pytest.raises(UnpickleError, match="too long"):
        unpickle(b"\x80\x04" + b"K\x010" * 2_000_000 + b"N.", time.thread_time() + 0.05)


@pytest.mark.sweep
def test_no_bytes_cause_an_import_or_a_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Read google-adk's pickles, and the same with randomly changed bytes."""
    pickles = []
    for entry in manifest():
        if entry["layout"] == "v0":
            connection = sqlite3.connect(f"file:{fixtures_dir() / 'open' / entry['file']}?immutable=1", uri=True)
            pickles += [row[0] for row in connection.execute("SELECT actions FROM events")]
            connection.close()
    pickles += [pickle.dumps(Attack(), protocol) for protocol in range(6)]
    chance = random.Random(11)
    monkeypatch.chdir(tmp_path)
    cases = count(quick=15_000, full=1_000_000)
    before, read = set(sys.modules), 0

    def no_import(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError(f"imports {args[0]}")

    with monkeypatch.context() as patched:
        patched.setattr(builtins, "__import__", no_import)
        for _ in range(cases):
            data = bytearray(chance.choice(pickles))
            for _ in range(chance.randint(1, 4)):
                at = chance.randrange(len(data))
                kind = chance.random()
                if kind < 0.6:
                    data[at] = chance.randrange(256)
                elif kind < 0.8:
                    del data[at : at + chance.randint(1, 20)]
                    data = data or bytearray(b".")
                else:
                    data[at:at] = chance.choice(pickles)[: chance.randint(1, 40)]
            try:
                read_actions(bytes(data))
                read += 1
            except UnpickleError:
                pass
    assert set(sys.modules) == before
    assert list(tmp_path.iterdir()) == []
    sys.stderr.write(f"{cases} damaged pickles: {read} read, {cases - read} refused, nothing imported or run\n")


@pytest.mark.sweep
@settings(max_examples=count(quick=300, full=50_000))
@given(st.lists(st.sampled_from([bytes([n]) for n in module._OPCODES] + [b"\x01", b"a\n", b"1\n", b"\x00\x00\x00"]), max_size=60))
def test_random_opcodes_raise_only_unpickle_error(opcodes: list[bytes]) -> None:
    with contextlib.suppress(UnpickleError):
        read_actions(b"".join(opcodes) + b".")
