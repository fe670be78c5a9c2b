"""Texts with their invisible characters written out.

Control characters that move the cursor, and bidirectional marks that reorder a line (the Trojan-source trick), are shown as what they are.
"""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_INVISIBLE_KEEPING_LINES = re.compile(_INVISIBLE.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))


def visible(text: str) -> str:
    """Return `text` on one line with every control, bidirectional and other invisible character written out."""
    if text.isascii() and text.isprintable():  # most texts; a tenth of the pattern's time
        return text
    return _INVISIBLE.sub(_written_out, text)


def visible_lines(text: str) -> str:
    """Return `text` as `visible` does, but with its line breaks and tabs kept."""
    return _INVISIBLE_KEEPING_LINES.sub(_written_out, text.replace("\r\n", "\n"))


def has_visible(text: str) -> bool:
    """Return whether anything of a text can be seen: neither white space nor an invisible character."""
    return bool(_INVISIBLE.sub("", text).strip())


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 10:
        return " ⏎ "
    if code == 9:
        return "  "
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"  # a byte of a file name that is not UTF-8, as a shell writes it
    return f"⟨U+{code:04X}⟩"
