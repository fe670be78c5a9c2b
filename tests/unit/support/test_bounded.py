"""What others wrote is read within bounds, and otherwise as JSON is."""

from __future__ import annotations

import gzip
import json
import os
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from runtime.support.bounded import Budget, Content, TooMuchError, count_values, parse, read_file, read_json_file
from runtime.support.linkless import LinkError, TooLargeError

TEXTS = ["", "a", "é", "\u2028", "\u0085", "😀", 'a"b', "\\", "\\ud83d", "[,{", "\n", "\0"]


def value(draw: random.Random, depth: int = 0) -> Any:
    kind = draw.randrange(8 if depth < 4 else 5)
    if kind < 2:
        return draw.choice(TEXTS) + draw.choice(TEXTS)
    if kind < 5:
        return draw.choice([0, -1, 10**30, 1.5, True, False, None])
    if kind < 7:
        return [value(draw, depth + 1) for _ in range(draw.randrange(4))]
    return {draw.choice(TEXTS) + str(n): value(draw, depth + 1) for n in range(draw.randrange(4))}


def test_values_are_read_and_counted_as_json_has_them() -> None:
    draw = random.Random(225)

    def count(found: Any) -> int:
        below = list(found.values()) if isinstance(found, dict) else found if isinstance(found, list) else []
        return 1 + sum(map(count, below))

    for _ in range(500):
        made = value(draw)
        for ascii_only in (False, True):
            text = json.dumps(made, ensure_ascii=ascii_only).encode()
            assert parse(text) == parse(b"\xef\xbb\xbf" + text) == made
            exact = count_values(text, 0)
            assert exact > 0 or not isinstance(made, (list, dict))
            assert count(made) - 1 <= count_values(text, 10**9)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (rb'"\ud83d"', "\ufffd"),
        (rb'"\ude00a\uD83D"', "\ufffda\ufffd"),
        (rb'"\ud83d\ud83d\ude00\ude00"', "\ufffd😀\ufffd"),
        (rb'"\\ud83d \\\ud83d"', "\\ud83d \\\ufffd"),
        (rb'{"\ud800": ["\udfff"]}', {"\ufffd": ["\ufffd"]}),
    ],
)
def test_halves_of_surrogate_pairs_become_replacement_characters(text: bytes, expected: Any) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"7 7",
        b"1" * 1_000_000,
        b'"\xff"',
        b"[01]",
        b"['a']",
        b'{"a":1,}',
        b"\xef\xbb\xbf",
        b"1e",
        b"--1",
        b"+1",
        b".5",
        b"0x1",
        b"\x00",
    ],
)
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError) as found:
        parse(text)
    assert not isinstance(found.value, TooMuchError)


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 300 + b"]" * 300])
def test_what_is_nested_too_deeply_is_named(text: bytes) -> None:
    with pytest.raises(TooMuchError, match="nested too deeply"):
        parse(text)


GREEDY = {
    "objects": b"[" + b"{}," * 10_000 + b"{}]",
    "lists": b"[" + b"[]," * 10_000 + b"[]]",
    "one key": b"[" + b'{"":0},' * 10_000 + b"0]",
    "keys": b"{" + b",".join(b'"%x":0' % number for number in range(10_000)) + b"}",
    "numbers": b"[" + b"999," * 10_000 + b"0]",
    "an emoji": b'"' + b"a" * 100_000 + "😀".encode() + b'"',
    "an escaped emoji": b'"' + b"a" * 100_000 + rb'\ud83d\ude00"',
    "a wide letter": b'"' + b"a" * 100_000 + "ā".encode() + b'"',
    "plain": b'"' + b"a" * 100_000 + b'"',
}


@pytest.mark.parametrize("name", GREEDY)
def test_the_estimate_is_not_less_than_what_a_value_takes(name: str) -> None:
    text = GREEDY[name]
    parse(b"[]")
    tracemalloc.start()
    try:
        kept = parse(text)
        taken = tracemalloc.get_traced_memory()[0] + len(text)
    finally:
        tracemalloc.stop()
    assert kept
    with pytest.raises(TooMuchError, match="would take more than"):
        Budget(taken * 3 // 4).parse(text)  # dicts and lists reserve more than they hold
    assert parse(text, taken * 6) == kept


def test_commas_and_brackets_in_texts_are_not_counted() -> None:
    text = json.dumps(["[,{" * 1_000, '\\"[,' * 1_000]).encode()
    assert count_values(text, 10) == 2


def test_a_budget_is_for_all_values_together() -> None:
    budget = Budget(1_000)
    budget.parse(b"[1]")
    with pytest.raises(TooMuchError):
        for _ in range(10):
            budget.parse(b"[1]")


class TestContent:
    def test_it_unpacks_gzip_in_pieces(self) -> None:
        packed = gzip.compress(b"hello" * 1_000)
        content = Content("GZIP")
        for place in range(0, len(packed), 7):
            content.add(packed[place : place + 7])
        assert content.whole() == b"hello" * 1_000

    def test_it_stops_at_the_limit(self) -> None:
        content = Content("gzip", 1_000)
        with pytest.raises(TooMuchError, match="longer than 1,000 bytes"):
            content.add(gzip.compress(bytes(10_000_000)))
        with pytest.raises(TooMuchError):
            Content("", 10).add(bytes(11))

    @pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "deflate", "gzip,identity", "x" * 1_000])
    def test_it_refuses_other_encodings(self, encoding: str) -> None:
        with pytest.raises(ValueError, match="is compressed with"):
            Content(encoding)

    def test_damage_is_named(self) -> None:
        with pytest.raises(ValueError, match="is no gzip"):
            Content("gzip").add(b"hello")
        content = Content("gzip")
        content.add(gzip.compress(b"hello")[:-3])
        with pytest.raises(ValueError, match="its end is missing"):
            content.whole()

    def test_what_follows_the_end_counts(self) -> None:
        content = Content("gzip", 1_000)
        content.add(gzip.compress(b"a"))
        with pytest.raises(TooMuchError):
            for _ in range(11):
                content.add(bytes(100))


class TestFiles:
    def test_links_are_followed_and_special_files_are_not_opened(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"[1]")
        (tmp_path / "link").symlink_to("a")
        os.mkfifo(tmp_path / "fifo")
        (tmp_path / "to_fifo").symlink_to("fifo")
        assert read_file(tmp_path / "link") == b"[1]"
        for name in ("fifo", "to_fifo", "."):
            with pytest.raises(LinkError):
                read_file(tmp_path / name)
        with pytest.raises(LinkError):
            read_file(Path("/dev/zero"))

    def test_a_large_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"12345")
        assert read_file(tmp_path / "a", 5) == b"12345"
        with pytest.raises(TooLargeError):
            read_file(tmp_path / "a", 4)

    def test_each_fault_is_a_sentence(self, tmp_path: Path) -> None:
        def said(data: bytes) -> str:
            (tmp_path / "a.json").write_bytes(data)
            with pytest.raises(KeyError) as found:
                read_json_file(tmp_path / "a.json", KeyError)
            return str(found.value.args[0])

        file = tmp_path / "a.json"
        with pytest.raises(KeyError, match="There is no file"):
            read_json_file(file, KeyError)
        assert said(b"\xff") == f"{file} is not text in UTF-8."
        assert said(b"{").startswith(f"{file} is not JSON: ")
        assert said(b"[" * 1_000) == f"{file} is nested too deeply, so it is not read."
