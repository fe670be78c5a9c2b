"""A condition in SQL that every row meets for whose event an expression holds. SQLite finds the candidates; only these are decoded.

JSON has several spellings of one text. Letters, digits and most signs of ASCII are stored as they are, or as `\\u00xx`, which only an
unusual writer does: rows with such an escape are always candidates. Other characters are stored as they are or as `\\uxxxx`.

Numbers of tokens are read by SQLite's own JSON parser, which takes the first value of a repeated key, where ours takes the last: rows
that may repeat one are always candidates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from runtime.expressions.required import AllOf, AnyOf, Noted, Requirement, Text, Tokens
from runtime.storage.layouts.camel_case import camel_case
from runtime.storage.reading.event_pages import Found

_LONGEST_SQL = 20_000  # characters; a condition with hundreds of terms is not searched for
_MOST_NOTED = 100  # events with notes that are searched for by their ids
_MOST_CHARACTERS = 3  # of a text outside ASCII that are searched for

_PLAIN_RUN = re.compile(r"[ !#-.0-\[\]-~]+")  # ASCII that no usual writer escapes
_OTHER = re.compile("[\u0080-\ud7ff\ue000-\ufffc\U00010000-\U0010ffff]")  # U+FFFD may be what a damaged row is read as
_CASELESS = re.compile("[\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")  # kana, Chinese, Korean
# ASCII letters that occur in the casefold of other characters, such as `s` in that of `ß`.
FOLDED_INTO = frozenset("afhijklnstwy")

_ODD = "(typeof(event_data) <> 'text' OR event_data GLOB '*\\u00[2-7]*')"
_NOT_ASCII = "(instr(event_data, '\\u') > 0 OR length(event_data) <> length(CAST(event_data AS BLOB)))"
_TWICE = "event_data LIKE '%usage%usage%'"
_SEVERAL_TEXTS = 'event_data LIKE \'%"text"%"text"%\''


def prefilter(requirement: Requirement | None, noted: Collection[str] | None = None) -> Found | None:
    """Return the condition for a requirement; None if every row may meet it.

    Args:
        requirement: see `Expression.required`.
        noted: the ids of the events with a note; None: any event may have one.
    """
    writer = _Writer(noted)
    sql = writer.write(requirement) if requirement is not None else None
    if sql is None or len(sql) > _LONGEST_SQL:
        return None
    return Found(f"{sql} OR {_ODD}", writer.parameters, writer.parses_json)


class _Writer:
    def __init__(self, noted: Collection[str] | None) -> None:
        self._noted = noted
        self.parameters: dict[str, str | float] = {}
        self.parses_json = False

    def write(self, requirement: Requirement) -> str | None:
        """Return the condition of a requirement, without rows that have a text in an unusual spelling."""
        if isinstance(requirement, Noted):
            return self._of_noted()
        if isinstance(requirement, Text):
            found = self._text(requirement)
            return found and self._elsewhere(requirement, found)
        if isinstance(requirement, Tokens):
            return self._tokens(requirement)
        terms = [self.write(part) for part in requirement.parts]
        known = [term for term in terms if term is not None]
        if isinstance(requirement, AnyOf):
            return f"({' OR '.join(known)})" if known and len(known) == len(terms) else None
        assert isinstance(requirement, AllOf)
        return f"({' AND '.join(known)})" if known else None

    def _of_noted(self) -> str | None:
        if self._noted is None or len(self._noted) > _MOST_NOTED:
            return None
        if not self._noted:
            return "0"
        return self.write(AnyOf(tuple(Text(event_id, whole=True, place="id") for event_id in self._noted)))

    def _tokens(self, tokens: Tokens) -> str:
        self.parses_json = True
        terms = [f"{_number(field)} >= :{self._named(tokens.least)}" for field in tokens.fields]  # of another type: greater than any number
        return f"({' OR '.join([*terms, _TWICE, *map(_repeated, tokens.fields)])})"

    def _elsewhere(self, text: Text, found: str) -> str:
        if text.place == "text parts":
            return f"({found} OR {_SEVERAL_TEXTS})"
        if text.place != "json":
            return f"({found} OR {found.replace('event_data', text.place)} OR typeof({text.place}) <> 'text')"
        return found

    def _text(self, text: Text) -> str | None:
        whole = text.text.casefold() if text.folded else text.text
        runs = _PLAIN_RUN.findall(whole)
        longest = max(runs, key=len, default="")
        if longest and longest == whole and text.whole and text.place == "json":
            return self._like(f'"{longest}"')
        if longest:
            folded = "".join("%" if letter in FOLDED_INTO else _escaped(letter) for letter in longest)
            spelled = self._like(longest)
            return f"({spelled} OR ({_NOT_ASCII} AND {self._pattern(folded)}))" if text.folded else spelled
        others = list(dict.fromkeys((_CASELESS if text.folded else _OTHER).findall(whole)))[:_MOST_CHARACTERS]
        if not others:
            return None
        return "(" + " AND ".join(f"({self._like(other)} OR {self._like(json.dumps(other)[1:-1])})" for other in others) + ")"

    def _like(self, text: str) -> str:
        return self._pattern(_escaped(text))

    def _pattern(self, pattern: str) -> str:
        return f"event_data LIKE :{self._named(f'%{pattern}%')} ESCAPE '\\'"

    def _named(self, value: str | float) -> str:
        name = f"find_{len(self.parameters)}"
        self.parameters[name] = value
        return name


def _number(field: str) -> str:
    """Return the SQL of a number in `usage_metadata`, in both spellings of its names."""
    paths = [f"$.{usage}.{name}" for usage in ("usage_metadata", "usageMetadata") for name in (field, camel_case(field))]
    values = ", ".join(f"json_extract(event_data, '{path}')" for path in paths)
    return f"coalesce({values})"


def _repeated(field: str) -> str:
    """Return the SQL condition that a number's name may occur twice in a row."""
    first, second, *_ = field.split("_")
    name = f"{first}[_{second[0].upper()}]*[cC]ount"  # in either spelling
    return f"event_data GLOB '*{name}*{name}*'"


def _escaped(text: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", text)
