from __future__ import annotations

from inspector_app.stream.hits import Hits, pixels_with


def test_places_are_sorted_and_unique() -> None:
    hits = Hits()
    hits.add([3, 5])
    hits.add([9])
    hits.add([4, 5])
    hits.add([])
    assert list(hits.places) == [3, 4, 5, 9]
    assert 4 in hits and 6 not in hits and None not in hits
    assert (hits.shown_after(-1), hits.shown_after(5), hits.shown_after(9)) == (3, 9, None)
    assert (hits.shown_before(3), hits.shown_before(9), hits.shown_before(100)) == (None, 5, 9)


def test_a_pixel_is_marked_if_any_of_its_places_is_a_hit() -> None:
    assert pixels_with([0, 1, 25, 99], [0, 10, 20, 30, 100]) == [0, 2, 3]
    assert pixels_with([7], [5, 5, 6, 8]) == [2], "a row of several pixels is marked at the last one"
    assert pixels_with([], [0, 10]) == []
    assert pixels_with([3], []) == []
    assert pixels_with([100], [0, 10]) == [], "a place after the end is not marked"


class Counting(list):  # type: ignore[type-arg]
    """A list that counts its reads."""

    looks = 0

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        Counting.looks += 1
        return super().__getitem__(index)


def test_the_cost_depends_on_the_pixels_not_on_the_places() -> None:
    Counting.looks = 0
    count, pixels = 1_000_000, 500
    places = Counting(range(count))
    assert pixels_with(places, [pixel * count // pixels for pixel in range(pixels + 1)]) == list(range(pixels))
    assert Counting.looks < 50 * pixels
