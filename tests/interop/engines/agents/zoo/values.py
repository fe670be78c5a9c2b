"""Objects whose own code raises, calls itself, never ends, or tells lies."""

from __future__ import annotations

import itertools
from typing import Any


class Own(BaseException):
    """An exception that `except Exception` does not catch."""


def raising(error: type[BaseException], *names: str) -> Any:
    """Return a class whose special methods raise."""

    def method(self: Any, *args: Any) -> Any:
        raise error("from the object")

    return type("Raising", (), dict.fromkeys(names, method))


class Recursive:
    def __repr__(self) -> str:
        return repr(self)


class NoText:
    def __repr__(self) -> Any:
        return 5


class Large:
    def __repr__(self) -> str:
        return "x" * 30_000_000


class OwnText(str):
    def __getitem__(self, place: Any) -> Any:
        raise ValueError("from the text")

    __len__ = __iter__ = __str__ = __add__ = startswith = __getitem__  # type: ignore[assignment]


class ReturnsOwnText:
    def __repr__(self) -> str:
        return OwnText("text")


class EndlessDict(dict[str, Any]):
    def items(self) -> Any:
        return (("k", number) for number in itertools.count())

    def __iter__(self) -> Any:
        return map(str, itertools.count())

    def __len__(self) -> int:
        return 3


class EndlessList(list[Any]):
    def __iter__(self) -> Any:
        return itertools.count()

    def __len__(self) -> int:
        return -1 if self else 2**40


class NoClass:
    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise ValueError("from __class__")


class NoAttributes:
    def __getattribute__(self, name: str) -> Any:
        raise Own(f"from {name}")


class Meta(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise ValueError("from the metaclass")

    def __instancecheck__(cls, other: Any) -> bool:
        raise ValueError("from the metaclass")


class OfMeta(metaclass=Meta):
    pass


class Dumps:
    def model_dump(self, **options: Any) -> Any:
        raise Own("from model_dump")


def contains_itself() -> Any:
    value: list[Any] = []
    value += [value, {"k": value}]
    return value


def deep() -> Any:
    value: list[Any] = []
    for _ in range(3_000):
        value = [value]
    return value


def doubled() -> Any:
    value: list[Any] = ["x"]
    for _ in range(12):
        value = [value, value]
    return value


MAKERS: dict[str, Any] = {
    "error": lambda: raising(ValueError, "__str__", "__repr__")(),
    "exit": lambda: raising(SystemExit, "__str__", "__repr__")(),
    "interrupt": lambda: raising(KeyboardInterrupt, "__str__", "__repr__")(),
    "own": lambda: raising(Own, "__str__", "__repr__")(),
    "recursive": Recursive,
    "no text": NoText,
    "large": Large,
    "own text": lambda: OwnText("text"),
    "returns own text": ReturnsOwnText,
    "endless dict": lambda: EndlessDict(a=1),
    "endless list": lambda: EndlessList([1]),
    "endless generator": lambda: itertools.count(),
    "no class": NoClass,
    "no attributes": NoAttributes,
    "metaclass": OfMeta,
    "model_dump": Dumps,
    "comparison": lambda: raising(Own, "__eq__", "__bool__", "__len__", "__hash__")(),
    "copy": lambda: raising(Own, "__deepcopy__", "__copy__", "__reduce_ex__")(),
    "itself": contains_itself,
    "deep": deep,
    "doubled": doubled,
    "large number": lambda: 10**5000,
    "half a pair": lambda: "\ud800",
    "not a number": lambda: float("nan"),
}


def exception_with(value: Any) -> Exception:
    """Return an exception whose text is that of a value."""

    class Failure(Exception):
        def __str__(self) -> str:
            return str(value)

        __repr__ = __str__

    return Failure(value)
