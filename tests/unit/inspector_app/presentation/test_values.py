from __future__ import annotations

import json
import time
from typing import Any

import pytest

from inspector_app.presentation.values import (
    ago,
    clock,
    clock_ms,
    duration,
    full_time,
    plain_tooltip,
    preview,
    size,
    visible,
    visible_lines,
)
from runtime.sessions.temp_trace import NotStored


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"sku": "PA4-80", "price": 4.2}, '{sku: "PA4-80", price: 4.2}'),
        ([1, 2.5, None, True, "é"], '[1, 2.5, null, true, "é"]'),
        ({"two words": {}}, '{"two words": {}}'),
        ({"user:home": []}, "{user:home: []}"),
        ("line one\nline two", '"line one ⏎ line two"'),
        ('a "quoted" word', '"a \\"quoted\\" word"'),
        ([NotStored("str")], "[not stored (str)]"),
        (b"abc", "(3 bytes)"),
        (object(), "(object object)"),
        pytest.param(10**5000, "(a number of more than 1,000 digits)", id="long number"),
    ],
)
def test_preview_reads_like_a_literal(value: object, text: str) -> None:
    assert preview(value) == text


def test_preview_is_shortened_and_does_not_read_the_rest() -> None:
    class Counting(dict):
        seen = 0

        def items(self):
            for item in super().items():
                Counting.seen += 1
                yield item

    shown = preview(Counting({f"key{number}": number for number in range(100_000)}), 80)
    assert len(shown) <= 80
    assert shown.endswith("…")
    assert Counting.seen < 20


def test_preview_of_a_long_text_is_shortened() -> None:
    assert preview("x" * 10_000_000, 50) == '"' + "x" * 48 + "…"


def test_a_large_nested_container_is_shown_by_its_size() -> None:
    assert preview({"list": list(range(214))}) == "{list: [214 items]}".replace("[", "[…")
    deep: Any = {"end": 1}
    for _ in range(60):
        deep = {"in": deep}
    assert "{…1 key}" in preview(deep, 2_000)


def test_preview_runs_no_code_of_the_object_and_ends_on_a_cycle() -> None:
    class Angry:
        def __repr__(self) -> str:
            raise AssertionError("repr was called")

    circle: list[object] = []
    circle.append(circle)
    assert "Angry object" in preview(Angry())
    assert len(preview(circle)) < 100


def test_control_and_bidirectional_characters_are_written_out() -> None:
    assert visible("a\x1b[31mb") == "a⟨U+001B⟩[31mb"
    assert visible("access\u202e\u2066// check") == "access⟨U+202E⟩⟨U+2066⟩// check"
    assert visible("\ud800") == "⟨U+D800⟩"
    assert visible("b\udcff.db") == r"b\xff.db", "a byte of a file name, as a shell writes it"
    assert visible("naïve 日本 👩‍👩‍👧") == "naïve 日本 👩‍👩‍👧"
    assert visible_lines("a\r\nb\tc\x00") == "a\nb\tc⟨U+0000⟩"


def test_a_tooltip_shows_markup_as_text() -> None:
    assert "<img" not in plain_tooltip('<img src="file:///dev/zero">')
    assert len(plain_tooltip("x" * 1_000_000)) < 3000


def test_invalid_times_are_shown_as_a_dash() -> None:
    for absurd in (float("nan"), float("inf"), 1e300, -1e300):
        assert clock(absurd) == "–"
        assert ago(absurd, 0) == "–"
        assert "no valid time" in full_time(absurd)


def test_times_and_spans() -> None:
    now = time.mktime((2026, 11, 21, 10, 2, 44, 0, 0, -1))
    assert clock(now) == "10:02:44"
    assert clock_ms(now + 0.123) == "10:02:44.123"
    assert full_time(now + 0.123).startswith("2026-11-21 10:02:44.123")
    spans = {0: "now", 59: "now", 120: "2 min", 3600: "1 h", 90000: "yesterday", 5 * 86400: "5 days", -5: "now"}
    assert {seconds: ago(now - seconds, now) for seconds in spans} == spans
    assert ago(now - 40 * 86400, now) == "2026-10-12"
    assert [duration(value) for value in (0.32, 1.9, 125, 11040, -1, float("nan"))] == [
        "320 ms",
        "1.9 s",
        "2 min 5 s",
        "3 h 4 min",
        "–",
        "–",
    ]


def test_preview_of_json_is_bounded_for_any_depth() -> None:
    deep: object = "x"
    for _ in range(500):
        deep = [deep]
    assert len(preview(deep)) < 130
    assert json.loads(preview([1, "a", None])) == [1, "a", None]


def test_sizes_as_text() -> None:
    assert [size(count) for count in (0, 999, 1_000, 24_444, 999_499, 999_500, 10_240_000_000)] == [
        "0 B", "999 B", "1.0 kB", "24 kB", "999 kB", "1.0 MB", "10 GB",
    ]  # fmt: skip
