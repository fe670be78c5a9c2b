"""The HTML page of a session: its texts are Markdown that can load nothing."""

from __future__ import annotations

from inspector_app.exchange.event_page import Block
from inspector_app.exchange.page import _block

TABLE = "| city | price |\n|---|---|\n| Lisbon | 389 |"


def test_a_table_is_a_table_in_texts_and_thoughts_alone() -> None:
    for kind in ("text", "thought"):
        assert "<td>Lisbon</td>" in _block(Block(kind, "", TABLE))
    assert "<td>" not in _block(Block("result", "Result of fares", TABLE))


def test_markdown_neither_links_nor_loads_nor_becomes_html() -> None:
    text = "<b>x</b> [a](https://e.org) ![p](https://e.org/p.png) <https://e.org>\n\n[r]: https://e.org\n\n[r]\n\n<script>1</script>"
    made = _block(Block("text", "", text))
    assert [tag for tag in ("<a", "<img", "<b>", "<script") if tag in made] == []
    assert made.count("https://e.org") == 4, "where a link leads is seen"


def test_lines_stay_lines_and_long_texts_are_verbatim() -> None:
    assert "one<br />\ntwo" in _block(Block("text", "", "one\ntwo"))
    assert "<pre># " in _block(Block("text", "", "# " * 9_000))
