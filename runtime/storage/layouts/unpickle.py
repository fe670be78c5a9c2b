"""An unpickler that runs no code.

The v0 layout stores `events.actions` as a pickle, and a pickle is a program that may call any function of any module. Here every class or
function that it names becomes an inert record, and calling it makes another record: nothing is imported and nothing runs. The result is
plain data and records. Size, steps and time are limited for any input.
"""

from __future__ import annotations

import codecs
import struct
import time
from collections.abc import Callable
from math import inf
from typing import Any

LONGEST_PICKLE = 256 * 1024 * 1024  # bytes
_MOST_STEPS = 20_000_000  # opcodes
_STEPS_BETWEEN_LOOKS = 256  # opcodes between two checks of the clock
_SIMPLE_KEYS = frozenset({str, bytes, int, bool, type(None)})
_LARGEST_KEY_NUMBER = 2**61 - 2  # larger integers, and floats, can be chosen so that all have the same hash


class UnpickleError(ValueError):
    """The bytes are not a pickle, or exceed a limit."""


class Record:
    """An object that the pickle describes but that is never created.

    Attributes:
        name: the class or function, with its module.
        args: the arguments of the call; None for the class or function itself.
        state: the argument of `__setstate__`.
        items: the items to append or add.
        pairs: the keys and values to set.
    """

    __slots__ = ("args", "items", "name", "pairs", "state")

    def __init__(self, name: str, args: tuple[Any, ...] | None = None) -> None:
        self.name = name
        self.args = args
        self.state: Any = None
        self.items: list[Any] = []
        self.pairs: list[tuple[Any, Any]] = []

    def __repr__(self) -> str:
        return f"<{self.name}>" if self.args is None else f"<{self.name} object>"


class SetItems(list[Any]):
    """The items of a set, kept as a list: hashing untrusted values could take unbounded time."""


class OddKey:
    """A dict key that is not text, a small number or None: hashing such keys could take unbounded time."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def unpickle(data: bytes, deadline: float = inf) -> Any:
    """Return the content of a pickle of any protocol, with objects as `Record`s.

    Args:
        data: an untrusted pickle.
        deadline: the value of `time.thread_time` at which to give up.

    Raises:
        UnpickleError: the pickle is damaged, too long, or takes too long.
    """
    if len(data) > LONGEST_PICKLE:
        raise UnpickleError(f"the pickle has {len(data):,} bytes, more than the limit of {LONGEST_PICKLE:,}")
    try:
        return _Machine(data, deadline).run()
    except UnpickleError:
        raise
    except (IndexError, KeyError, ValueError, TypeError, AttributeError, OverflowError, MemoryError, struct.error) as error:
        raise UnpickleError(f"the pickle is damaged ({type(error).__name__}: {str(error)[:200]})") from error


class _Mark:
    """A mark on the stack: the items of the next collection begin here."""


_MARK = _Mark()


class _Machine:
    """Pickle's stack machine. Each opcode of protocols 0 to 5 is a method or an entry of the table below."""

    def __init__(self, data: bytes, deadline: float) -> None:
        self._data = data
        self._at = 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._deadline = deadline

    def run(self) -> Any:
        data, opcodes = self._data, _OPCODES
        for step in range(_MOST_STEPS):
            if step % _STEPS_BETWEEN_LOOKS == 0:
                self._look_at_the_clock()
            opcode = data[self._at]
            self._at += 1
            if opcode == _STOP:
                return self._pop()
            work = opcodes.get(opcode)
            if work is None:
                raise UnpickleError(f"the pickle has an unknown opcode {opcode:#04x} at byte {self._at - 1}")
            work(self)
        raise UnpickleError("the pickle takes too many steps")

    def _look_at_the_clock(self) -> None:
        if time.thread_time() > self._deadline:
            raise UnpickleError("the pickle takes too long")

    # Arguments of opcodes

    def take(self, count: int) -> bytes:
        if count < 0 or count > len(self._data) - self._at:
            raise UnpickleError("the pickle is cut off")
        taken = self._data[self._at : self._at + count]
        self._at += count
        return taken

    def number(self, form: str) -> int:
        value: int = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return value

    def line(self) -> bytes:
        end = self._data.index(b"\n", self._at)
        taken = self._data[self._at : end]
        self._at = end + 1
        return taken

    # The stack

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise UnpickleError("the pickle pops more values than the stack has")
        return value

    def _top(self) -> Any:
        value = self._stack[-1]
        if value is _MARK:
            raise UnpickleError("the pickle pops more values than the stack has")
        return value

    def _pop_to_mark(self) -> list[Any]:
        for index in range(len(self._stack) - 1, -1, -1):
            if self._stack[index] is _MARK:
                items = self._stack[index + 1 :]
                del self._stack[index:]
                return items
        raise UnpickleError("the pickle ends a collection that it did not begin")

    # Collections

    def push_items(self, make: Callable[[list[Any]], Any]) -> None:
        self.push(make(self._pop_to_mark()))

    def tuple_of(self, count: int) -> None:
        items = [self._pop() for _ in range(count)]
        self.push(tuple(reversed(items)))

    def dict_of_items(self) -> None:
        items = self._pop_to_mark()
        made: dict[Any, Any] = {}
        self._set(made, items)
        self.push(made)

    def append(self) -> None:
        self._extend([self._pop()])

    def extend(self) -> None:
        self._extend(self._pop_to_mark())

    def _extend(self, items: list[Any]) -> None:
        target = self._top()
        if isinstance(target, Record):
            target.items.extend(items)
        elif isinstance(target, list):
            target.extend(items)
        else:
            raise UnpickleError("the pickle appends to a value that is not a list")

    def set_item(self) -> None:
        value = self._pop()
        key = self._pop()
        self._set(self._top(), [key, value])

    def set_items(self) -> None:
        items = self._pop_to_mark()
        self._set(self._top(), items)

    def _set(self, target: Any, items: list[Any]) -> None:
        if len(items) % 2:
            raise UnpickleError("the pickle has a key without a value")
        if isinstance(target, Record):
            target.pairs.extend(zip(items[::2], items[1::2], strict=True))
        elif isinstance(target, dict):
            for index in range(0, len(items), 2):
                # Keys crafted to collide make each insertion take time proportional to the dict's size.
                if index % _STEPS_BETWEEN_LOOKS == 0:
                    self._look_at_the_clock()
                target[_hashable(items[index])] = items[index + 1]
        else:
            raise UnpickleError("the pickle sets keys of a value that is not a dict")

    def pop(self) -> None:
        self._stack.pop()

    def duplicate(self) -> None:
        self.push(self._top())

    # The memo

    def put(self, index: int) -> None:
        self._memo[index] = self._top()

    def memoize(self) -> None:
        self.put(len(self._memo))

    def get(self, index: int) -> None:
        self.push(self._memo[index])

    # Objects: recorded, never created

    def named(self, module: Any, name: Any) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            raise UnpickleError("the pickle names a class with a value that is not text")
        self.push(Record(f"{module}.{name}"))

    def named_on_stack(self) -> None:
        name = self._pop()
        self.named(self._pop(), name)

    def call(self, *, keywords: bool = False) -> None:
        given = self._pop() if keywords else {}
        args = self._pop()
        self._push_call(self._pop(), (*args, given) if given else tuple(args))

    def call_marked(self) -> None:
        callee, *args = self._pop_to_mark()
        self._push_call(callee, tuple(args))

    def call_named(self) -> None:
        name = f"{_text(self.line())}.{_text(self.line())}"
        self.push(Record(name, tuple(self._pop_to_mark())))

    def _push_call(self, callee: Any, args: tuple[Any, ...]) -> None:
        name = callee.name if isinstance(callee, Record) else type(callee).__name__
        if name == "_codecs.encode" and len(args) == 2 and isinstance(args[0], str) and args[1] == "latin1":
            # The form of bytes before protocol 3.
            self.push(args[0].encode("latin-1"))
        else:
            self.push(Record(name, args))

    def build(self) -> None:
        state = self._pop()
        target = self._top()
        if not isinstance(target, Record):
            raise UnpickleError("the pickle sets the state of a value that is not an object")
        target.state = state

    def persistent(self, reference: Any) -> None:
        self.push(Record("persistent object", (reference,)))

    # Numbers and texts

    def integer(self) -> int | bool:
        text = self.line()
        if text in (b"00", b"01"):
            return text == b"01"
        return int(text)

    def long(self, length: int) -> None:
        self.push(int.from_bytes(self.take(length), "little", signed=True))

    def quoted(self) -> None:
        text = self.line()
        if len(text) < 2 or text[:1] not in b"'\"" or text[-1:] != text[:1]:
            raise UnpickleError("the pickle has a text without quotes")
        self.push(codecs.unicode_escape_decode(text[1:-1])[0])


def _hashable(key: Any) -> Any:
    if type(key) not in _SIMPLE_KEYS or (type(key) is int and abs(key) > _LARGEST_KEY_NUMBER):
        return OddKey(key)
    return key


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _old_text(data: bytes) -> str:
    return data.decode("latin-1")


_STOP = ord(".")
_OPCODES: dict[int, Callable[[_Machine], None]] = {
    opcode[0]: work
    for opcode, work in {
        # Ignored: the protocol number and frames
        b"\x80": lambda m: m.take(1) and None,
        b"\x95": lambda m: m.take(8) and None,
        # The stack and the memo
        b"(": lambda m: m.push(_MARK),
        b"0": _Machine.pop,
        b"1": lambda m: m._pop_to_mark() and None,
        b"2": _Machine.duplicate,
        b"p": lambda m: m.put(int(m.line())),
        b"q": lambda m: m.put(m.number("<B")),
        b"r": lambda m: m.put(m.number("<I")),
        b"\x94": _Machine.memoize,
        b"g": lambda m: m.get(int(m.line())),
        b"h": lambda m: m.get(m.number("<B")),
        b"j": lambda m: m.get(m.number("<I")),
        # Constants and numbers
        b"N": lambda m: m.push(None),
        b"\x88": lambda m: m.push(True),
        b"\x89": lambda m: m.push(False),
        b"I": lambda m: m.push(m.integer()),
        b"J": lambda m: m.push(m.number("<i")),
        b"K": lambda m: m.push(m.number("<B")),
        b"M": lambda m: m.push(m.number("<H")),
        b"L": lambda m: m.push(int(m.line().rstrip(b"L"))),
        b"\x8a": lambda m: m.long(m.number("<B")),
        b"\x8b": lambda m: m.long(m.number("<i")),
        b"F": lambda m: m.push(float(m.line())),
        b"G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
        # Texts and bytes
        b"S": _Machine.quoted,
        b"T": lambda m: m.push(_old_text(m.take(m.number("<i")))),
        b"U": lambda m: m.push(_old_text(m.take(m.number("<B")))),
        b"V": lambda m: m.push(codecs.raw_unicode_escape_decode(m.line())[0]),
        b"\x8c": lambda m: m.push(_text(m.take(m.number("<B")))),
        b"X": lambda m: m.push(_text(m.take(m.number("<I")))),
        b"\x8d": lambda m: m.push(_text(m.take(m.number("<Q")))),
        b"C": lambda m: m.push(m.take(m.number("<B"))),
        b"B": lambda m: m.push(m.take(m.number("<I"))),
        b"\x8e": lambda m: m.push(m.take(m.number("<Q"))),
        b"\x96": lambda m: m.push(m.take(m.number("<Q"))),
        # Collections
        b")": lambda m: m.push(()),
        b"]": lambda m: m.push([]),
        b"}": lambda m: m.push({}),
        b"\x8f": lambda m: m.push(SetItems()),
        b"t": lambda m: m.push_items(tuple),
        b"\x85": lambda m: m.tuple_of(1),
        b"\x86": lambda m: m.tuple_of(2),
        b"\x87": lambda m: m.tuple_of(3),
        b"l": lambda m: m.push_items(list),
        b"\x91": lambda m: m.push_items(SetItems),
        b"d": _Machine.dict_of_items,
        b"a": _Machine.append,
        b"e": _Machine.extend,
        b"\x90": _Machine.extend,
        b"s": _Machine.set_item,
        b"u": _Machine.set_items,
        # Objects
        b"c": lambda m: m.named(_text(m.line()), _text(m.line())),
        b"\x93": _Machine.named_on_stack,
        b"R": _Machine.call,
        b"\x81": _Machine.call,
        b"\x92": lambda m: m.call(keywords=True),
        b"i": _Machine.call_named,
        b"o": _Machine.call_marked,
        b"b": _Machine.build,
        b"P": lambda m: m.persistent(_text(m.line())),
        b"Q": lambda m: m.persistent(m._pop()),
    }.items()
}
