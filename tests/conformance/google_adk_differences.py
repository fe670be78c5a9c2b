"""Every clause that a service of the real google-adk does not keep, with its reason. Nothing else may fail, and nothing here may pass."""

from __future__ import annotations

from dataclasses import dataclass

MEMORY, DATABASE, SQLITE = "in memory", "SQLite", "adk web's layout"
OLD, NEW = "1.39.1", "2.13.0"


@dataclass(frozen=True)
class Difference:
    """What some of google-adk's services do otherwise.

    Attributes:
        reason: what they do.
        services: version and name of each.
        clauses: which they do not keep.
        is_a_race: two writers have to meet for it, so it may also pass.
    """

    reason: str
    services: frozenset[tuple[str, str]]
    clauses: tuple[str, ...]
    is_a_race: bool = False


def _of(versions: tuple[str, ...], *services: str) -> frozenset[tuple[str, str]]:
    return frozenset((version, service) for version in versions for service in services)


BOTH = (OLD, NEW)
REFUSED = "append_event: what cannot be stored is refused and nothing is changed"
REFUSES = "create_session: refuses what cannot be stored"
ORDER = "append_event: order is commit order and times are the events own"

DIFFERENCES = [
    Difference(
        "a timestamp of 0 is taken for one that was given",
        _of(BOTH, MEMORY, DATABASE, SQLITE),
        ("append_event: a missing id and timestamp are filled in",),
    ),
    Difference(
        "a repeated event id is not looked for in memory, and is the driver's IntegrityError in a database",
        _of(BOTH, MEMORY, DATABASE, SQLITE),
        ("append_event: the same event is not taken twice",),
    ),
    Difference(
        "keys inside a value become text, and NaN is written into the JSON, where other readers stumble over it",
        _of(BOTH, DATABASE, SQLITE),
        (f"{REFUSES} [a key that is no text]", f"{REFUSES} [not a number]"),
    ),
    Difference(
        "in memory nothing is checked: what another service could not keep is taken",
        _of(BOTH, MEMORY),
        (
            *(
                f"{REFUSED} [{case}]"
                for case in ("an object", "a set deep inside", "infinity", "nested too deep", "a checkpoint", "metadata")
            ),
            *(f"{REFUSES} [{case}]" for case in ("an object", "a key that is no text", "not a number", "a set", "bytes")),
        ),
    ),
    Difference(
        "infinity stands in the session's state, and null in the event that set it",
        _of(BOTH, DATABASE),
        (f"{REFUSED} [infinity]",),
    ),
    Difference(
        "values nested 198 deep and more are written, and the session can never be read again",
        _of(BOTH, DATABASE, SQLITE),
        (f"{REFUSED} [nested too deep]",),
    ),
    Difference(
        "2.x stores something else: an object's repr with its address, a list for a set, text for bytes",
        _of((NEW,), DATABASE, SQLITE),
        (
            *(f"{REFUSED} [{case}]" for case in ("an object", "a set deep inside", "a checkpoint")),
            *(f"{REFUSES} [{case}]" for case in ("an object", "a set", "bytes")),
        ),
    ),
    Difference(
        "events are sorted by their time, those of one time by id or backwards",
        _of(BOTH, DATABASE),
        (f"{ORDER} [all equal]", f"{ORDER} [a clock that goes back]", f"{ORDER} [mixed]"),
    ),
    Difference(
        "events are sorted by their time; those of one time keep their order",
        _of(BOTH, SQLITE),
        (f"{ORDER} [a clock that goes back]", f"{ORDER} [mixed]"),
    ),
    Difference(
        "the column holds whole microseconds, and the session's time is read from it",
        _of(BOTH, DATABASE),
        ("append_event: its time is kept to the last bit",),
    ),
    Difference(
        "sessions of one user that write at once overwrite each other's `user:` keys",
        _of(BOTH, DATABASE),
        ("append_event: several threads and loops lose nothing",),
        is_a_race=True,
    ),
    Difference(
        "tasks that append at once are committed in another order than that of their times, by which events are read",
        _of(BOTH, SQLITE),
        ("append_event: many tasks on one held session lose nothing",),
        is_a_race=True,
    ),
    Difference(
        "a blank id is an id, and blanks round one are kept",
        _of(BOTH, DATABASE),
        (
            "create_session: makes an id where none is given [empty]",
            "create_session: makes an id where none is given [blank]",
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
        ("create_session: what it returns is a copy",),
    ),
    Difference(
        "1.x lists sessions that share their values with the stored ones",
        _of((OLD,), MEMORY),
        ("list_sessions: what it returns is a copy",),
    ),
    Difference(
        "1.x takes an event for a session that is not there, and keeps it nowhere",
        _of((OLD,), MEMORY),
        ("append_event: a session that is not there", "delete_session: takes the session and its events"),
    ),
    Difference(
        "1.x takes `num_recent_events=0` for no limit",
        _of((OLD,), DATABASE),
        ("get_session: chooses events [none]",),
    ),
    Difference(
        "1.x patches JSON: dicts are merged and None removes the key",
        _of((OLD,), SQLITE),
        ("append_event: none is a value and removes nothing", "append_event: values are replaced and not merged"),
    ),
]
