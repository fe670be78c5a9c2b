"""All clauses that the real google-adk's services fail, with reasons. No other clause may fail, and no clause listed here may pass."""

from __future__ import annotations

from dataclasses import dataclass

MEMORY, DATABASE, SQLITE = "in memory", "SQLite", "adk web's layout"
OLD, NEW = "1.39.1", "2.13.0"


@dataclass(frozen=True)
class Difference:
    """A difference in some of google-adk's services.

    Attributes:
        reason: what they do differently.
        services: version and name of each service.
        clauses: the clauses that they fail.
        is_a_race: whether the failure depends on timing, so that the clauses may also pass.
    """

    reason: str
    services: frozenset[tuple[str, str]]
    clauses: tuple[str, ...]
    is_a_race: bool = False


def _of(versions: tuple[str, ...], *services: str) -> frozenset[tuple[str, str]]:
    return frozenset((version, service) for version in versions for service in services)


BOTH = (OLD, NEW)
REFUSED = "append_event: values that cannot be stored are refused and change nothing"
REFUSES = "create_session: refuses values that cannot be stored"
ORDER = "append_event: order is commit order and times are the events own"

DIFFERENCES = [
    Difference(
        "a timestamp of 0 counts as given",
        _of(BOTH, MEMORY, DATABASE, SQLITE),
        ("append_event: a missing id and timestamp are filled in",),
    ),
    Difference(
        "a repeated event id is not checked in memory, and is the driver's IntegrityError in a database",
        _of(BOTH, MEMORY, DATABASE, SQLITE),
        ("append_event: the same event is not accepted twice",),
    ),
    Difference(
        "keys inside a value become text, and NaN is written into the JSON, where other readers stumble over it",
        _of(BOTH, DATABASE, SQLITE),
        (f"{REFUSES} [a key that is not text]", f"{REFUSES} [not a number]"),
    ),
    Difference(
        "in memory nothing is checked: values that other services cannot store are accepted",
        _of(BOTH, MEMORY),
        (
            *(
                f"{REFUSED} [{case}]"
                for case in ("an object", "a set deep inside", "infinity", "nested too deep", "a checkpoint", "metadata")
            ),
            *(f"{REFUSES} [{case}]" for case in ("an object", "a key that is not text", "not a number", "a set", "bytes")),
        ),
    ),
    Difference(
        "infinity is stored in the session's state, and null in the event that set it",
        _of(BOTH, DATABASE),
        (f"{REFUSED} [infinity]",),
    ),
    Difference(
        "values nested 198 levels deep or more are written, and the session can never be read again",
        _of(BOTH, DATABASE, SQLITE),
        (f"{REFUSED} [nested too deep]",),
    ),
    Difference(
        "2.x stores a different value: an object's repr with its address, a list for a set, text for bytes",
        _of((NEW,), DATABASE, SQLITE),
        (
            *(f"{REFUSED} [{case}]" for case in ("an object", "a set deep inside", "a checkpoint")),
            *(f"{REFUSES} [{case}]" for case in ("an object", "a set", "bytes")),
        ),
    ),
    Difference(
        "events are sorted by time, events with equal times by id or backwards",
        _of(BOTH, DATABASE),
        (f"{ORDER} [all equal]", f"{ORDER} [a clock that goes back]", f"{ORDER} [mixed]"),
    ),
    Difference(
        "events are sorted by time; events with equal times keep their order",
        _of(BOTH, SQLITE),
        (f"{ORDER} [a clock that goes back]", f"{ORDER} [mixed]"),
    ),
    Difference(
        "the column holds whole microseconds, and the session's time is read from it",
        _of(BOTH, DATABASE),
        ("append_event: its time is stored exactly",),
    ),
    Difference(
        "sessions of one user that write at once overwrite each other's `user:` keys",
        _of(BOTH, DATABASE),
        ("append_event: several threads and loops lose nothing",),
        is_a_race=True,
    ),
    Difference(
        "tasks that append concurrently are not committed in the order of their times, by which events are sorted when read",
        _of(BOTH, SQLITE),
        ("append_event: many tasks on one held session lose nothing",),
        is_a_race=True,
    ),
    Difference(
        "a blank id counts as an id, and blanks around an id are kept",
        _of(BOTH, DATABASE),
        (
            "create_session: generates an id if none is given [empty]",
            "create_session: generates an id if none is given [blank]",
            "create_session: an id is trimmed",
        ),
    ),
    Difference(
        "the held session shares its values with the event",
        _of(BOTH, MEMORY, DATABASE, SQLITE),
        ("append_event: a value of the held session changed in place changes nothing stored",),
    ),
    Difference(
        "the stored state shares its values with the caller's",
        _of(BOTH, MEMORY),
        ("create_session: returns a copy",),
    ),
    Difference(
        "1.x lists sessions that share their values with the stored ones",
        _of((OLD,), MEMORY),
        ("list_sessions: returns copies",),
    ),
    Difference(
        "1.x accepts an event for a missing session and stores it nowhere",
        _of((OLD,), MEMORY),
        ("append_event: a missing session is refused", "delete_session: removes the session and its events"),
    ),
    Difference(
        "1.x treats `num_recent_events=0` as no limit",
        _of((OLD,), DATABASE),
        ("get_session: filters events [none]",),
    ),
    Difference(
        "1.x patches JSON: dicts are merged and None removes the key",
        _of((OLD,), SQLITE),
        ("append_event: none is a value and removes nothing", "append_event: values are replaced and not merged"),
    ),
]
