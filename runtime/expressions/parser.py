"""A parser that turns an expression into functions. The grammar is in the package's docstring."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from runtime.events.kinds import KINDS
from runtime.expressions import names, required
from runtime.expressions.errors import ExpressionError
from runtime.expressions.names import Step, View, walk
from runtime.expressions.operand import Operand
from runtime.expressions.pattern import Pattern
from runtime.expressions.required import Requirement
from runtime.expressions.tokens import Token, tokens
from runtime.expressions.values import COMPARISONS, NOTHING, different, equal, is_true, plain

Test = Callable[[View], bool]

MAX_DEPTH = 40
_RESERVED = frozenset(("and", "or", "not", "in", "contains", "matches", "changed"))
_NAMES_ONE = ("==", "=", "!=", "in", "not in")
_BY_TYPE = ("==", "=", "!=", "<", "<=", ">", ">=")  # operators that hold for values of one type only
_CONSTANTS = {"true": True, "false": False, "null": None}


class Condition(NamedTuple):
    """A condition that was parsed.

    Attributes:
        test: evaluates it.
        required: what an event contains for which it holds; None if nothing is known.
    """

    test: Test
    required: Requirement | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that an expression uses.

    Attributes:
        name: the first name of the path.
        steps: the rest of the path; for `author`, the text that it is compared with.
    """

    name: str
    steps: tuple[Step, ...]


class Reader:
    """A parser of one expression.

    Args:
        source: the text as written.
        simple: the only names that there are, and how each is looked up; None: the names of an event.

    Attributes:
        uses_state: whether the expression reads state, so that `state_before` matters.
        mentions: the names that it uses, in the order of the text.
    """

    def __init__(self, source: str, simple: Mapping[str, names.Simple] | None = None) -> None:
        self._tokens = tokens(source)
        self._simple = names.SIMPLE if simple is None else simple
        self._is_of_event = simple is None
        self._at = 0
        self._depth = 0
        self.uses_state = False
        self.mentions: list[Mention] = []

    def expression(self) -> Condition:
        """Parse the whole text as a condition.

        Raises:
            ExpressionError: the text is not a condition; the error has the position and what was expected there.
        """
        condition = self._either()
        self._end("`and`, `or`, a comparison or the end")
        return condition

    def value(self) -> Operand:
        """Parse the whole text as one value.

        Raises:
            ExpressionError: the text is not a value; the error has the position and what was expected there.
        """
        operand = self._operand()
        self._end("the end")
        return operand

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._token
        self._at += token.kind != "end"
        return token

    def _take(self, *texts: str) -> Token | None:
        token = self._token
        return self._next() if token.kind in ("sign", "name") and token.text in texts else None

    def _expected(self, what: str) -> ExpressionError:
        return ExpressionError(f"expected {what}, found {self._token}.", self._token.position)

    def _end(self, what: str) -> None:
        if self._token.kind != "end":
            raise self._expected(what)

    def _either(self) -> Condition:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ExpressionError(f"parentheses are nested more than {MAX_DEPTH} deep.", self._token.position)
        parts = [self._all()]
        while self._take("or"):
            parts.append(self._all())
        self._depth -= 1
        tests = [part.test for part in parts]
        if len(parts) == 1:
            return parts[0]
        return Condition(lambda view: any(test(view) for test in tests), required.any_of(part.required for part in parts))

    def _all(self) -> Condition:
        parts = [self._not()]
        while self._take("and"):
            parts.append(self._not())
        tests = [part.test for part in parts]
        if len(parts) == 1:
            return parts[0]
        return Condition(lambda view: all(test(view) for test in tests), required.all_of(part.required for part in parts))

    def _not(self) -> Condition:
        negated = False
        while self._take("not"):
            negated = not negated
        condition = self._test()
        test = condition.test
        return Condition(lambda view: not test(view)) if negated else condition

    def _test(self) -> Condition:
        if self._take("("):
            condition = self._either()
            if not self._take(")"):
                raise self._expected("`)`")
            return condition
        left = self._operand()
        sign = self._token
        if self._take("~", "matches"):
            return self._match(left)
        if self._take("changed"):
            return _changed(left, sign)
        operator = self._operator()
        if operator is None:
            return Condition(_truth(left), required.of_truth(left))
        right_token = self._token
        right = self._operand()
        for known, given, token in ((left, right, right_token), (right, left, sign)):
            if known.name == "kind" and not known.steps:
                _check_kinds(given.literal, token)
            _check_type(known, operator, given.literal, token)
            if known.name == "author" and operator in _NAMES_ONE:
                authors = given.literal if isinstance(given.literal, list) else [given.literal]
                self.mentions += [Mention("author", (author,)) for author in authors if isinstance(author, str)]
        return Condition(_comparison(left, operator, right), required.of_comparison(left, operator, right))

    def _operator(self) -> str | None:
        if self._take("not"):
            if not self._take("in"):
                raise self._expected("`in`")
            return "not in"
        token = self._take(*COMPARISONS)
        return token.text if token else None

    def _match(self, left: Operand) -> Condition:
        token = self._next()
        if token.kind != "string":
            self._at -= token.kind != "end"
            raise self._expected('a pattern, such as "refund|cancel"')
        pattern = Pattern(token.value, token.position + 1)
        each = left.each
        test: Test = lambda view: any(pattern.found_in(text, view.budget) for text in each(view) if type(text) is str)  # noqa: E731
        return Condition(test, required.of_match(left, token.value))

    def _operand(self) -> Operand:
        token = self._next()
        if token.kind in ("string", "number"):
            return _literal(token.value)
        if token.kind == "sign" and token.text == "[":
            return _literal(self._list())
        if token.kind == "name" and token.text in _CONSTANTS:
            return _literal(_CONSTANTS[token.text])
        if token.kind == "name" and token.text not in _RESERVED:
            return self._path(token)
        self._at -= token.kind != "end"
        raise self._expected(f'a name, such as `{next(iter(self._simple))}`, or a value, such as "text" or 5')

    def _list(self) -> list[Any]:
        items: list[Any] = []
        while not self._take("]"):
            if items and not self._take(","):
                raise self._expected("`,` or `]`")
            token = self._next()
            if token.kind in ("string", "number"):
                items.append(token.value)
            elif token.kind == "name" and token.text in _CONSTANTS:
                items.append(_CONSTANTS[token.text])
            else:
                self._at -= token.kind != "end"
                raise self._expected('a value, such as "text" or 5')
        return items

    def _path(self, first: Token) -> Operand:
        steps: list[Step] = []
        places: list[Token] = []
        while True:
            places.append(self._token)
            if self._take("."):
                steps.append(self._key())
            elif self._take("["):
                steps.append(self._index())
            else:
                break
        self.mentions.append(Mention(first.text, tuple(steps)))
        return self._named(first, tuple(steps), places)

    def _key(self) -> Step:
        token = self._next()
        if token.kind == "sign" and token.text == "*":
            return None
        if token.kind not in ("name", "string"):
            self._at -= token.kind != "end"
            raise self._expected("a name after the dot")
        return str(token.value)

    def _index(self) -> Step:
        token = self._next()
        step: Step = None
        if token.kind == "string" or (token.kind == "number" and type(token.value) is int):
            step = token.value
        elif token.text != "*":
            self._at -= token.kind != "end"
            raise self._expected('a key, such as ["cart"], a number or *')
        if not self._take("]"):
            raise self._expected("`]`")
        return step

    def _named(self, token: Token, steps: tuple[Step, ...], places: Sequence[Token]) -> Operand:
        name = token.text
        if name in self._simple:
            if steps:
                raise ExpressionError(f"`{name}` has no fields.", places[0].position)
            get = self._simple[name]
            return _single(lambda view: plain(get(view.event)), name)
        if not self._is_of_event:
            raise self._no_such(token, list(self._simple))
        if name in names.NOTED:
            if steps:
                raise ExpressionError(f"`{name}` has no fields.", places[0].position)
            noted = names.NOTED[name]
            return _single(lambda view: noted(view.note), name)
        if name in names.RECORDS:
            return _record(name, steps, places)
        if name in names.OBJECTS:
            return _object(name, steps)
        if name in names.NAMED:
            return _several(name, steps, places)
        if name == "json":
            if not steps:
                return _single(View.json_text, name)
            return Operand(lambda view: walk(view.json(), steps, view.budget), None, NOTHING, name, steps)
        if name == "state":
            self.uses_state = True
            return _state(steps, places)
        raise self._no_such(token, names.ALL_NAMES)

    @staticmethod
    def _no_such(token: Token, known: Sequence[str]) -> ExpressionError:
        near = difflib.get_close_matches(token.text, known, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"the names are {', '.join(known)}."
        return ExpressionError(f"there is no name `{token.text[:60]}`; {hint} (Put texts in quotes.)", token.position)


def _literal(value: Any) -> Operand:
    return Operand(lambda view: (value,), lambda view: value, value)


def _single(get: Callable[[View], Any], name: str, steps: tuple[Step, ...] = ()) -> Operand:
    return Operand(lambda view: (get(view),), get, NOTHING, name, steps)


def _record(name: str, steps: tuple[Step, ...], places: Sequence[Token]) -> Operand:
    whole, fields = names.RECORDS[name]
    if not steps:
        return _single(lambda view: whole(view.event), name)
    field = steps[0]
    if field not in fields or not isinstance(field, str):
        raise ExpressionError(f"`{name}` has the fields {', '.join(fields)}.", places[0].position)
    if len(steps) > 1:
        raise ExpressionError(f"`{name}.{field}` has no fields.", places[1].position)
    get = fields[field]
    return _single(lambda view: plain(get(view.event)), name, steps)


def _object(name: str, steps: tuple[Step, ...]) -> Operand:
    get = names.OBJECTS[name]
    if not steps:
        return Operand(lambda view: list(get(view.event) or ()), None, NOTHING, name)
    return Operand(lambda view: walk(plain(get(view.event)), steps, view.budget), None, NOTHING, name, steps)


def _several(name: str, steps: tuple[Step, ...], places: Sequence[Token]) -> Operand:
    all_names, of_name = names.NAMED[name]
    if not steps:
        return Operand(lambda view: all_names(view.event), None, NOTHING, name)
    first, rest = steps[0], steps[1:]
    if isinstance(first, int):
        raise ExpressionError(f"expected a name, as in {name}.NAME, or * for all.", places[0].position)

    def each(view: View) -> Iterable[Any]:
        for item in of_name(view.event, first):
            yield from walk(plain(item), rest, view.budget)

    return Operand(each, None, NOTHING, name, steps)


def _state(steps: tuple[Step, ...], places: Sequence[Token]) -> Operand:
    key = steps[0] if steps else None
    if not isinstance(key, str):
        raise ExpressionError('expected a key, as in state["cart"].', places[0].position)

    def each(view: View) -> Iterable[Any]:
        value = names.state_after(view, key)
        return () if value is NOTHING else walk(value, steps[1:], view.budget)

    return Operand(each, None, NOTHING, "state", steps)


def _changed(operand: Operand, sign: Token) -> Condition:
    if operand.name != "state" or None in operand.steps:
        raise ExpressionError('only state can be tested with `changed`, as in state["cart"] changed.', sign.position)
    key, rest = str(operand.steps[0]), operand.steps[1:]

    def changed(view: View) -> bool:
        if key not in view.event.actions.state_delta:
            return False
        if view.state_before is None:
            return True
        old, new = names.state_before(view, key), names.state_after(view, key)
        before = next(iter(walk(old, rest, view.budget)), NOTHING)
        after = next(iter(walk(new, rest, view.budget)), NOTHING)
        if before is NOTHING or after is NOTHING:
            return before is not after
        return type(before) is not type(after) or not equal(before, after, view.budget)

    return Condition(changed, required.of_change(key))


def _truth(operand: Operand) -> Test:
    single, each = operand.single, operand.each
    if single is not None:
        return lambda view: is_true(single(view))
    return lambda view: any(is_true(value) for value in each(view))


def _comparison(left: Operand, operator: str, right: Operand) -> Test:
    compare = COMPARISONS[operator]
    one, value, single, each = left.single, right.literal, left.single, left.each
    if operator in ("in", "not in") and type(value) is list:
        wanted = operator == "in"
        return lambda view: any(any(equal(item, other, view.budget) for other in value) == wanted for item in each(view))
    if single is not None and type(value) is str and compare in (equal, different):
        wanted = compare is equal
        return lambda view: (single(view) == value) == wanted
    if one is not None and value is not NOTHING:
        return lambda view: compare(one(view), value, view.budget)

    def test(view: View) -> bool:
        others = list(right.each(view))
        view.budget.spend(len(others))
        for item in left.each(view):
            view.budget.spend(len(others))
            if any(compare(item, other, view.budget) for other in others):
                return True
        return False

    return test


def _check_type(operand: Operand, operator: str, literal: Any, token: Token) -> None:
    """Refuse the comparison of a name with a value of a type that the name never has, which would silently match nothing."""
    kind = names.TYPES.get(operand.name or "")
    if kind is None or (operator not in _BY_TYPE) or type(literal) not in (str, int, float, bool):
        return
    given = "a text" if type(literal) is str else "true or false" if type(literal) is bool else "a number"
    if given != kind:
        path = ".".join([operand.name or "", *map(str, operand.steps)])
        raise ExpressionError(f"`{path}` is {kind}, so it cannot be compared with {given}.", token.position)


def _check_kinds(value: Any, token: Token) -> None:
    for kind in value if type(value) is list else [value]:
        if type(kind) is str and kind not in KINDS:
            near = difflib.get_close_matches(kind, KINDS, 1)
            hint = f'did you mean "{near[0]}"?' if near else f"the kinds are {', '.join(KINDS)}."
            raise ExpressionError(f"there is no kind {kind[:60]!r}; {hint}", token.position)
