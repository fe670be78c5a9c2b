"""A parser that turns regular expressions into automata.

The dialect is the part of Python's `re` that an automaton without memory can match: literals, `.`, classes, groups, `|`, `* + ? {m,n}`
(also lazy, which makes no difference to whether there is a match), `^ $ \\b \\B`, `\\d \\w \\s` and their opposites, and the flags
`(?i)` and `(?s)` at the beginning. Look-around and backreferences need backtracking, which can take exponential time; they are rejected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runtime.expressions.errors import ExpressionError

MAX_LENGTH = 500
MAX_NODES = 1_000
MAX_REPEAT = 1_000
MAX_DEPTH = 30

CharTest = Callable[[str], bool]

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_CLASSES: dict[str, CharTest] = {
    "d": str.isdecimal,
    "w": lambda char: char.isalnum() or char == "_",
    "s": str.isspace,
}


@dataclass(slots=True)
class Node:
    """One node of the automaton.

    Attributes:
        test: the condition on the next character; None for a node that consumes none.
        assertion: the condition on this position: `^`, `$`, `b` or `B`; "" for none.
        out: the next nodes; none for the node that means "found".
    """

    test: CharTest | None
    assertion: str
    out: list[int]


@dataclass(slots=True)
class _Piece:
    """A part of the automaton: its first node, and the nodes whose `out` leads on."""

    start: int
    ends: list[int]


class PatternReader:
    """A parser of one pattern.

    Args:
        source: the pattern.
        offset: the position of the pattern in the whole expression, for errors.

    Attributes:
        nodes: the automaton; node 0 is "found".
        start: its first node.
        literal: the pattern as plain text, if it has no special characters.
    """

    def __init__(self, source: str, offset: int = 0) -> None:
        self._source = source
        self._offset = offset
        self._at = 0
        self._depth = 0
        self._ignore_case = self._dot_all = False
        self.nodes = [Node(None, "", [])]
        self.literal: str | None = None if set(source) & set(".^$*+?{}[]\\|()") else source
        if len(source) > MAX_LENGTH:
            raise self._error(f"a pattern has at most {MAX_LENGTH} characters")
        self._read_flags()
        piece = self._alternatives()
        if self._at < len(source):
            raise self._error("this `)` has no matching `(`")
        self._lead(piece.ends, 0)
        self.start = piece.start

    def _error(self, problem: str) -> ExpressionError:
        return ExpressionError(f"{problem}.", self._offset + self._at)

    def _next_is(self, text: str) -> bool:
        return self._source.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        if not self._next_is(text):
            return False
        self._at += len(text)
        return True

    def _read_flags(self) -> None:
        for flags in ("(?i)", "(?s)", "(?is)", "(?si)"):
            if self._take(flags):
                self._ignore_case, self._dot_all = "i" in flags, "s" in flags
                return

    def _node(self, test: CharTest | None = None, assertion: str = "", out: list[int] | None = None) -> int:
        if len(self.nodes) >= MAX_NODES:
            raise self._error("the pattern is too large; repeat less")
        self.nodes.append(Node(test, assertion, out or []))
        return len(self.nodes) - 1

    def _lead(self, ends: list[int], target: int) -> None:
        for end in ends:
            self.nodes[end].out.append(target)

    def _alternatives(self) -> _Piece:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"groups are nested more than {MAX_DEPTH} deep")
        pieces = [self._sequence()]
        while self._take("|"):
            pieces.append(self._sequence())
        self._depth -= 1
        if len(pieces) == 1:
            return pieces[0]
        split = self._node(out=[piece.start for piece in pieces])
        return _Piece(split, [end for piece in pieces for end in piece.ends])

    def _sequence(self) -> _Piece:
        first = self._node()
        whole = _Piece(first, [first])
        while self._at < len(self._source) and self._source[self._at] not in "|)":
            piece = self._repeated()
            self._lead(whole.ends, piece.start)
            whole = _Piece(first, piece.ends)
        return whole

    def _repeated(self) -> _Piece:
        begin = self._at
        piece = self._atom()
        end = self._at
        bounds = self._bounds()
        if bounds is None:
            return piece
        if self._bounds() is not None:
            raise self._error("one repetition follows another; put the repeated part in a group")
        least, most = bounds
        pieces = [piece, *(self._again(begin, end) for _ in range(max(least, most or least, 1) - 1))]
        return self._chain(pieces, least, most)

    def _again(self, begin: int, end: int) -> _Piece:
        """Parse the atom again, for another copy of its nodes."""
        after, self._at = self._at, begin
        piece = self._atom()
        assert self._at == end
        self._at = after
        return piece

    def _chain(self, pieces: list[_Piece], least: int, most: int | None) -> _Piece:
        """Chain copies of a repeated piece; those after the first `least` are optional."""
        first = self._node()
        if most == 0:
            return _Piece(first, [first])
        ends, way_out = [first], []
        for number, piece in enumerate(pieces, start=1):
            if number > least:
                split = self._node(out=[piece.start])
                self._lead(ends, split)
                way_out.append(split)
            else:
                self._lead(ends, piece.start)
            ends = piece.ends
        if most is None:  # the last copy may repeat
            again = self._node(out=[pieces[-1].start])
            self._lead(ends, again)
            ends = [again]
        return _Piece(first, [*ends, *way_out])

    def _bounds(self) -> tuple[int, int | None] | None:
        """Parse a repetition; return None if there is none."""
        found: tuple[int, int | None] | None = None
        if self._take("*"):
            found = (0, None)
        elif self._take("+"):
            found = (1, None)
        elif self._take("?"):
            found = (0, 1)
        elif self._next_is("{"):
            found = self._counts()
        if found is not None:
            self._take("?")  # a lazy repetition matches the same texts
        return found

    def _counts(self) -> tuple[int, int | None]:
        closing = self._source.find("}", self._at)
        least, comma, most = self._source[self._at + 1 : max(closing, self._at)].partition(",")
        if closing < 0 or not (least or comma) or not all(part.isascii() and (part.isdecimal() or not part) for part in (least, most)):
            raise self._error("expected a repetition such as {2} or {2,5}; write \\{ for a literal brace")
        low = int(least[:6] or 0)
        high = low if not comma else int(most[:6]) if most else None
        if max(low, high or 0) > MAX_REPEAT or (high is not None and high < low):
            raise self._error(f"a repetition needs bounds in ascending order, at most {MAX_REPEAT}")
        self._at = closing + 1
        return low, high

    def _atom(self) -> _Piece:
        char = self._source[self._at]
        if char in "*+?":
            raise self._error(f"there is nothing to repeat before this `{char}`")
        if char == "(":
            return self._group()
        if char == "[":
            return self._char(self._class())
        self._at += 1
        if char in "^$":
            return self._assertion(char)
        if char == ".":
            return self._char((lambda char: True) if self._dot_all else (lambda char: char != "\n"))
        if char == "\\":
            return self._escape()
        return self._char(self._one(char))

    def _group(self) -> _Piece:
        opened = self._at
        self._at += 1
        if self._take("?") and not self._take(":"):
            closing = self._source.find(">", self._at)
            if not self._next_is("P<") or closing < 0:
                raise self._error("look-around and flags inside a pattern are not supported; write a group as (…) or (?:…)")
            self._at = closing + 1
        piece = self._alternatives()
        if not self._take(")"):
            self._at = opened
            raise self._error("this `(` is not closed")
        return piece

    def _escape(self) -> _Piece:
        if self._at == len(self._source):
            raise self._error("a character must follow the last `\\`")
        if self._source[self._at] in "bB":
            self._at += 1
            return self._assertion(self._source[self._at - 1])
        return self._char(self._escaped())

    def _escaped(self) -> CharTest:
        """Parse the characters after a backslash, inside or outside a class."""
        char = self._source[self._at : self._at + 1]
        self._at += 1
        if char.lower() in _CLASSES and char:
            test = _CLASSES[char.lower()]
            return test if char.islower() else lambda other: not test(other)
        if char in _ESCAPES:
            return self._one(_ESCAPES[char])
        if not char or char.isalnum():
            self._at -= 1
            raise self._error(f"`\\{char}` is not supported")
        return self._one(char)

    def _class(self) -> CharTest:
        opened = self._at
        self._at += 1
        negated = self._take("^")
        tests: list[CharTest] = []
        while not (self._next_is("]") and tests):
            if self._at >= len(self._source):
                self._at = opened
                raise self._error("this `[` is not closed")
            tests.append(self._class_item())
        self._at += 1
        return lambda char: any(test(char) for test in tests) != negated

    def _class_item(self) -> CharTest:
        low = self._source[self._at]
        self._at += 1
        if low == "\\":
            return self._escaped()
        following = self._source[self._at : self._at + 2]
        if len(following) < 2 or following[0] != "-" or following[1] in "]\\":
            return self._one(low)
        high = following[1]
        if high < low:
            raise self._error("a range needs its lower end first")
        self._at += 2
        return self._any_case(lambda char: low <= char <= high)

    def _one(self, wanted: str) -> CharTest:
        return self._any_case(lambda char: char == wanted)

    def _any_case(self, test: CharTest) -> CharTest:
        if not self._ignore_case:
            return test
        return lambda char: test(char) or test(char.lower()) or test(char.upper())

    def _char(self, test: CharTest) -> _Piece:
        node = self._node(test)
        return _Piece(node, [node])

    def _assertion(self, kind: str) -> _Piece:
        node = self._node(assertion=kind)
        return _Piece(node, [node])
