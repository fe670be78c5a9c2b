"""Tables on a terminal: aligned columns that fit, and ids that stay whole."""

from __future__ import annotations

import pytest

from inspector_app.commands.output import print_table


def printed(capsys: pytest.CaptureFixture[str], *rows: tuple[str, ...], ids: int | None = None) -> list[str]:
    print_table(("id", "text", "no."), rows, ids=ids)
    return capsys.readouterr().out.splitlines()


ROW = ("8f14e45fceea167a5a36", "a long text that tells what this session was about", "7")


def test_the_columns_are_aligned_and_whole_without_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    head, first, second = printed(capsys, ROW, ("x", "y", "10"))
    assert first.split("  ") == list(ROW)
    assert [head.index("text"), second.index("y")] == [first.index("a long")] * 2
    assert head.index("no.") == second.index("10") == first.rindex("7")


@pytest.mark.parametrize("width", [40, 60])
def test_the_text_is_cut_before_the_ids(width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = printed(capsys, ROW, ids=0)
    assert all(len(line) <= width for line in lines)
    assert lines[1].startswith(ROW[0]) and ROW[1] not in lines[1]


def test_the_widest_column_is_cut_first_where_none_has_ids(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert printed(capsys, ROW)[1].startswith(ROW[0])


def test_ids_are_cut_where_nothing_else_is_left(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    lines = printed(capsys, ROW, ids=0)
    assert all(len(line) <= 24 for line in lines)
    assert not lines[1].startswith(ROW[0])


def test_signs_of_two_cells_are_counted_as_two(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    _, first, second = printed(capsys, ("漢字", "a", "1"), ("abcd", "b", "2"))
    assert (first, second) == ("漢字  a     1", "abcd  b     2")
