"""Search for a regular expression, in time proportional to the text's length.

Python's `re` backtracks: `(a+)+b` takes minutes on thirty letters, and no static check identifies the harmless patterns reliably. So
patterns are matched by an automaton whose states are built on demand and cached (as in RE2). Each character is read once. Each new state
costs at most as many steps as the automaton has nodes; they are charged to the evaluation's budget.
"""

from __future__ import annotations

from runtime.expressions.budget import TEXT_LIMIT, Budget
from runtime.expressions.pattern_syntax import Node, PatternReader

_EDGE, _WORD, _OTHER = 0, 1, 2
MAX_TRANSITIONS = 20_000  # cached transitions of one pattern; above this, all are dropped and computed again


class _State:
    """The automaton's state after some characters.

    Attributes:
        nodes: the nodes it may be at, before following those that consume no character.
        before: the kind of the last character, if an assertion needs it.
        steps: next character → next state, or None if the pattern was found before that character.
        found_at_end: whether the pattern is found if the text ends here; None if not computed yet.
    """

    __slots__ = ("before", "found_at_end", "nodes", "steps")

    def __init__(self, nodes: frozenset[int], before: int) -> None:
        self.nodes = nodes
        self.before = before
        self.steps: dict[str, _State | None] = {}
        self.found_at_end: bool | None = None


class Pattern:
    """A regular expression.

    Args:
        source: see `pattern_syntax`.
        offset: the position of the pattern in the whole expression, for errors.

    Raises:
        ExpressionError: the pattern cannot be parsed.
    """

    def __init__(self, source: str, offset: int = 0) -> None:
        reader = PatternReader(source, offset)
        self._literal = reader.literal
        self._nodes: list[Node] = reader.nodes
        self._start = reader.start
        self._looks_around = any(node.assertion for node in reader.nodes)
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._transitions = 0

    def found_in(self, text: str, budget: Budget) -> bool:
        """Return whether the pattern is found anywhere in the text's first `TEXT_LIMIT` characters.

        Raises:
            ExpressionTooCostlyError: the budget is used up.
        """
        text = text[:TEXT_LIMIT]
        if self._literal is not None:
            return self._literal in text
        budget.spend(len(text))
        state = self._state(frozenset((self._start,)), _EDGE)
        for char in text:
            try:
                following = state.steps[char]
            except KeyError:
                following = self._step(state, char, budget)
            if following is None:
                return True
            state = following
        if state.found_at_end is None:
            state.found_at_end = self._reach(state, _EDGE, budget)[1]
        return state.found_at_end

    def _step(self, state: _State, char: str, budget: Budget) -> _State | None:
        kind = (_WORD if char.isalnum() or char == "_" else _OTHER) if self._looks_around else _EDGE
        waiting, found = self._reach(state, kind, budget)
        following = None
        if not found:
            onward = {self._start}
            for node in waiting:
                if node.test is not None and node.test(char):
                    onward.update(node.out)
            following = self._state(frozenset(onward), kind)
        self._transitions += 1
        if self._transitions > MAX_TRANSITIONS:
            self._transitions = 0
            self._states.clear()
        else:
            state.steps[char] = following
        return following

    def _state(self, nodes: frozenset[int], before: int) -> _State:
        state = self._states.get((nodes, before))
        if state is None:
            state = self._states[nodes, before] = _State(nodes, before)
        return state

    def _reach(self, state: _State, after: int, budget: Budget) -> tuple[list[Node], bool]:
        """Follow the nodes that consume no character; return the nodes that wait for one, and whether the pattern is found here."""
        seen = set(state.nodes)
        open_ends = list(seen)
        waiting = []
        while open_ends:
            number = open_ends.pop()
            if number == 0:
                return [], True
            node = self._nodes[number]
            if node.test is not None:
                waiting.append(node)
            elif not node.assertion or _holds(node.assertion, state.before, after):
                for following in node.out:
                    if following not in seen:
                        seen.add(following)
                        open_ends.append(following)
        budget.spend(len(seen))
        return waiting, False


def _holds(assertion: str, before: int, after: int) -> bool:
    if assertion == "^":
        return before == _EDGE
    if assertion == "$":
        return after == _EDGE
    return ((before == _WORD) != (after == _WORD)) == (assertion == "b")
