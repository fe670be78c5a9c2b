"""Values as labelled fields, in HTML. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from inspector_app.presentation.values import preview, visible, visible_lines

OWN = "inspector"  # scheme of links that lead somewhere in this window
MOST_FIELDS = 150  # of one card; the JSON has all
MOST_TEXT = 6_000  # characters of one value
_DEEPEST = 3  # levels of fields within fields; deeper values are one line


class Fields:
    """A writer of labelled fields that stops after `MOST_FIELDS`."""

    def __init__(self) -> None:
        self._left = MOST_FIELDS

    @property
    def is_full(self) -> bool:
        """Whether no more fields are written."""
        return self._left <= 0

    def html(self, value: Any, depth: int = 0) -> str:
        """Return a value: mappings and lists as fields, all else as text."""
        if isinstance(value, Mapping) and value and depth < _DEEPEST:
            if depth == 0 and list(value) == ["result"]:  # what google-adk makes of a tool's plain result
                return self.html(value["result"], depth)
            return self._table(((visible(str(name)), one) for name, one in value.items()), len(value), depth)
        if isinstance(value, list) and value and depth < _DEEPEST:
            if all(isinstance(one, (int, float, bool)) or (isinstance(one, str) and len(one) <= 40) for one in value[:MOST_FIELDS]):
                return ", ".join(self._scalar(one) for one in value[:MOST_FIELDS]) + (" …" if len(value) > MOST_FIELDS else "")
            return self._table(((str(number), one) for number, one in enumerate(value, 1)), len(value), depth)
        return self._scalar(value)

    def _table(self, items: Any, count: int, depth: int) -> str:
        rows = []
        for number, (name, value) in enumerate(items):
            if self._left <= 0:
                rows.append(f'<tr><td colspan="2" class="dim">… {count - number:,} more, see JSON</td></tr>')
                break
            self._left -= 1
            rows.append(
                f'<tr><td class="dim" style="padding-right: 10px">{escape(name[:200])}</td><td>{self.html(value, depth + 1)}</td></tr>'
            )
        return f'<table cellspacing="0" cellpadding="1">{"".join(rows)}</table>'

    @staticmethod
    def _scalar(value: Any) -> str:
        if isinstance(value, str):
            cut = value if len(value) <= MOST_TEXT else f"{value[:MOST_TEXT]}… ({len(value) - MOST_TEXT:,} more characters, see JSON)"
            return text_html(cut) or '<span class="dim">empty text</span>'
        if value is None or (isinstance(value, (Mapping, list)) and not value):
            return f'<span class="dim">{"none" if value is None else "empty"}</span>'
        return f'<span class="mono">{escape(preview(value, 400))}</span>'


def text_html(text: str) -> str:
    """Return a text of an agent as HTML, with its line breaks and without invisible characters."""
    return escape(visible_lines(text)).replace("\t", "    ").replace("  ", "&nbsp; ").replace("\n", "<br>")


def event_link(index: int, words: str = "") -> str:
    """Return a link to the event at a position of the session; its number, if there are no words."""
    return f'<a href="{OWN}:event/{index}">{escape(words) or f"{index + 1:,}"}</a>'
