r"""Search for a regular expression, in time proportional to the text's length.

Python's `re` backtracks: `(a+)+b` takes minutes on thirty letters, and no static check identifies the harmless patterns reliably. So
patterns are matched by Rust's `regex`, an automaton that pydantic contains. The dialect is what `re` and it have in common: all but
look-around, backreferences and what needs them. `$` is the end of the text, and `{` is written `\{` where it is no repetition.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runtime.expressions.budget import TEXT_LIMIT, Budget
from runtime.expressions.errors import ExpressionError
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    import pydantic_core
else:
    pydantic_core = lazy_module("pydantic_core")

MAX_LENGTH = 500
MAX_COPIES = 1_000  # of parts of a pattern, made by repetitions with a number
_COPIES_A_STEP = 50  # at worst one character takes 1 µs with as many

_SPECIAL = frozenset(".^$*+?{}[]\\|()")
_PIECE = re.compile(
    r"""(?P<set>\[\^?\]?(?:\\.|[^\]\\])*+\]?)
    |(?P<repeat>(?:[*+?]|\{(?P<least>\d{0,6})(?P<comma>,?)(?P<most>\d{0,6})\})(?P<possessive>\+?))
    |(?P<beyond>\(\?(?:<?[=!]|P=|>|\(|[a-zA-Z-]*x)|\\[1-9])
    |\\.|.""",
    re.VERBOSE | re.DOTALL,
)
_IN_SET = re.compile(r"(\\.)|[\[&~]", re.DOTALL)  # Rust's `regex` has sets inside sets, and their differences
_LITERAL = re.compile(r"\\([<>]|[^\x00-\x7f])")  # `\<` is the beginning of a word in Rust's `regex`


class Pattern:
    """A regular expression.

    Args:
        source: see the module.
        offset: the position of the pattern in the whole expression, for errors.

    Raises:
        ExpressionError: the pattern cannot be parsed.
    """

    def __init__(self, source: str, offset: int = 0) -> None:
        self._literal = None if _SPECIAL & set(source) else source
        if len(source) > MAX_LENGTH:
            raise ExpressionError(f"a pattern has at most {MAX_LENGTH} characters.", offset + MAX_LENGTH)
        if self._literal is not None:
            return
        pattern, copies = _translated(source, offset)
        self._steps_a_character = 1 + copies // _COPIES_A_STEP
        try:
            re.compile(pattern)  # for its messages and positions, and as the meaning is that of `re`
            wanted = pydantic_core.core_schema.str_schema(strict=True, pattern=pattern, regex_engine="rust-regex")
            self._automaton = pydantic_core.SchemaValidator(wanted)
        except re.error as error:
            raise ExpressionError(f"{error.msg}.", offset + min(error.pos or 0, len(source))) from None
        except RecursionError:
            raise ExpressionError("groups are nested too deeply.", offset) from None
        except pydantic_core.SchemaError:
            raise ExpressionError("the pattern is too large, or a part of it is not supported.", offset) from None

    def found_in(self, text: str, budget: Budget) -> bool:
        """Return whether the pattern is found anywhere in the text's first `TEXT_LIMIT` characters.

        Raises:
            ExpressionTooCostlyError: the budget is used up.
        """
        text = text[:TEXT_LIMIT]
        if self._literal is not None:
            return self._literal in text
        budget.spend(len(text) * self._steps_a_character)
        if self._automaton.isinstance_python(text):
            return True
        # Halves of surrogate pairs, which no encoding has, make a text invalid.
        return not text.isascii() and self._automaton.isinstance_python(text.encode(errors="replace").decode())


def _translated(source: str, offset: int) -> tuple[str, int]:
    """Return a pattern of `re` as Rust's `regex` writes it, and how many copies of its parts the repetitions with a number make."""
    pieces: list[str] = []
    sizes, last, parts = [0], 0, 0  # sizes of the open groups and of the part before a repetition, written out; parts as they are written
    for found in _PIECE.finditer(source):
        piece, at = found[0], offset + found.start()
        if found["beyond"]:
            raise ExpressionError("look-around, backreferences and the flag `x` are not supported.", at)
        if piece == "[":
            raise ExpressionError("this `[` is not closed.", at)
        if piece in ("{", "{}"):
            raise ExpressionError("expected a repetition such as {2} or {2,5}; write \\{ for a literal brace.", at)
        if found["possessive"]:
            raise ExpressionError("one repetition follows another; put the repeated part in a group.", at)
        if piece.startswith("{"):
            least, most = int(found["least"] or 0), int(found["most"] or 0)
            sizes[-1] += last * (max(least, most, 1) - 1)
            piece = f"{{{least}{found['comma']}{found['most']}}}"
        elif found["set"]:
            if "--" in piece:
                raise ExpressionError("write a `-` in a set of characters as `\\-`.", at)
            piece = "[" + _IN_SET.sub(lambda part: _LITERAL.sub(r"\1", part[1] or f"\\{part[0]}"), piece[1:])
        else:
            piece = _LITERAL.sub(r"\1", piece)
        if piece == "(":
            sizes.append(0)
        elif piece == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif not found["repeat"]:
            last = 1
            sizes[-1] += 1
            parts += 1
        pieces.append(piece)
    copies = sum(sizes) - parts
    if copies > MAX_COPIES:
        raise ExpressionError("the pattern is too large; repeat less.", offset)
    return "".join(pieces), copies
