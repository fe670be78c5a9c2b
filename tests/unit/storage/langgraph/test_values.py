"""Values in checkpoints: decoded as data, bounded, and never called."""

from __future__ import annotations

import struct
import time
from typing import Any

import msgspec
import pytest

from runtime.storage.langgraph.values import Typed, UnreadableError, decode, plain, unpack

_ONE_GB = b"\x3f\xff\xff\xff"


def _extension(code: int, value: Any) -> bytes:
    payload = value if isinstance(value, bytes) else msgspec.msgpack.encode(value)
    return b"\xc9" + struct.pack(">I", len(payload)) + bytes([code]) + payload


def _nested(depth: int) -> bytes:
    found = msgspec.msgpack.encode(["a", "b", "c"])
    for _ in range(depth):
        found = _extension(0, b"\x93" + msgspec.msgpack.encode("m") + msgspec.msgpack.encode("n") + found)
    return found


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (_extension(0, ["uuid", "UUID", "0" * 31 + "7"]), "00000000-0000-0000-0000-000000000007"),
        (_extension(0, ["builtins", "set", [1, 2]]), [1, 2]),
        (_extension(1, ["pathlib", "PosixPath", ["/", "a", "b"]]), "/a/b"),
        (_extension(1, ["datetime", "date", [2026, 2, 8]]), "2026-02-08"),
        (_extension(2, ["shop", "Point", {"x": 1}]), {"~type": "shop.Point", "x": 1}),
        (_extension(3, ["os", "system", "touch PWNED", "__call__"]), {"~type": "os.system", "value": "touch PWNED"}),
        (_extension(0, ["pydantic.types", "SecretStr", "hunter2"]), {"~type": "pydantic.types.SecretStr", "value": "**********"}),
        (_extension(7, [1, 2]), [1, 2]),
        (_extension(99, b"\x01"), {"~type": "extension 99", "value": {"~bytes": "AQ=="}}),
        (b"\x82\x01\xa1a\x92\x01\x02\xa1b", {"1": "a", "[1, 2]": "b"}),
        (msgspec.msgpack.encode([float("nan"), float("-inf"), 2**63]), ["NaN", "-Infinity", str(2**63)]),
    ],
)
def test_values_are_shown_as_data(stored: bytes, shown: Any) -> None:
    assert plain(decode("msgpack", stored)) == shown


def test_constructors_in_json_are_read_as_data() -> None:
    found = decode("json", b'{"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "hi"}}')
    assert isinstance(found, Typed) and (found.module, found.name, found.value) == ("langchain", "HumanMessage", {"content": "hi"})


@pytest.mark.parametrize(
    "stored",
    [
        b"\xdd" + _ONE_GB,
        b"\xdf" + _ONE_GB + b"\xa1a",
        b"\xdb" + _ONE_GB + b"a",
        b"\xc9" + _ONE_GB + b"\x01a",
        b"\x91" * 300_000 + b"\x01",
        b"\x81\xa1a" * 100_000 + b"\x01",
        _nested(2_000),
        b"\xdd" + struct.pack(">I", 2_000_000) + b"\x90" * 2_000_000,
        b"\xdd" + struct.pack(">I", 500_000) + b"\xd4\x00\x90" * 500_000,
        b"\x81\x81\xa1a\x01\x01",
        b"\xa2\xff\xfe",
        b"",
    ],
)
def test_a_hostile_value_is_refused_soon(stored: bytes) -> None:
    begun = time.process_time()
    with pytest.raises(UnreadableError):
        unpack(stored)
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("pickle", "is a pickle"), ("msgpack+aes", "is encrypted"), ("lz4", "is coded as lz4"), (None, "is coded as None")],
)
def test_a_value_of_another_kind_is_named(kind: str | None, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        decode(kind, b"\x80\x04.")


def test_a_long_text_is_read() -> None:
    assert len(decode("msgpack", msgspec.msgpack.encode("é" * 1_000_000))) == 1_000_000
