"""No mistyped URL shows its password."""

from __future__ import annotations

import contextlib
import io
import logging

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inspector_app.cli import main
from runtime.storage.connections.database_url import without_written_password, written_passwords

MARKER = "S3cretMarker"
BEFORE, AFTER = "postgresql://ana:", "@localhost:1/db"

COMMANDS = [
    ["sessions", "{}"],
    ["sessions", "{}", "--json"],
    ["events", "{}", "--session", "s"],
    ["state", "{}", "--session", "s"],
    ["invocations", "{}", "--session", "s"],
    ["convert", "{}", "new.db"],
    ["convert", "old.db", "{}"],
    ["forks", "{}"],
    ["fork", "{}", "--session", "s", "--at", "e", "--into", "x.db"],
    ["compare", "{}", "--session", "a", "--with", "b"],
    ["delete", "{}", "--session", "s"],
    ["prune", "{}", "--older-than", "1d"],
    ["rewind", "{}", "--session", "s", "--invocation", "i"],
    ["run", "{}", "--message", "hello"],
    ["resume", "{}", "--db", "{}"],
    ["api_server", "{}"],
    ["nonsense", "{}"],
    ["sessions", "x.db", "{}"],
    ["sessions", "--limit", "{}"],
]


@st.composite
def mistyped(draw: st.DrawFn) -> str:
    """Return a URL with characters left out, doubled or exchanged. The colon before the password stays: without it, nothing tells."""
    before, after = list(BEFORE[:-1]), list(AFTER)
    for characters in (before, after):
        for _ in range(draw(st.integers(0, 3))):
            if not characters:
                break
            place = draw(st.integers(0, len(characters) - 1))
            change = draw(st.sampled_from(["", "double", "/", " ", ":", "\\", "|", "P"]))
            if characters[place] == "@" and change != "double":
                continue  # tested apart
            characters[place] = characters[place] * 2 if change == "double" else change
    secret = draw(st.sampled_from([MARKER, f"a@b{MARKER}", f"{MARKER}/x", f"%41{MARKER}", f"{MARKER}?#", f"x:{MARKER}", f"[{MARKER}"]))
    return "".join(before) + ":" + secret + "".join(after)


@given(mistyped())
@example(f"postgresql://ana:{MARKER}localhost/db")
@example(f"postgresql://ana:{MARKER}")
@example(f"postgresql:/ana:{MARKER}%40localhost/db")
@example(f"postgresql://localhost/db?user=ana&password={MARKER}")
@example(f"postgresql//localhost/db?sslpassword={MARKER}&x=1")
@example(f"ana:{MARKER}@localhost/db")
@example(f"sqlite:/ana:{MARKER}@localhost")
@example(f"host=localhost user=ana password={MARKER}")
@example(f"postgresql://ana%3A{MARKER}@127.0.0.1:1/db")
@settings(max_examples=500)
def test_a_mistyped_url_is_displayed_without_its_password(url: str) -> None:
    assert MARKER not in without_written_password(url)


@pytest.mark.parametrize(
    "text",
    [
        "x.db",
        "/data/a:b/x.db",
        "./a@b.db",
        "C:\\data\\x.db",
        "sqlite:///x.db",
        "sqlite+aiosqlite:///./my.db",
        "a b.db",
        ":memory:",
        "",
    ],
)
def test_a_path_is_displayed_as_it_is(text: str) -> None:
    assert written_passwords(text) == []
    assert without_written_password(text) == text


@pytest.mark.logs("")
@given(mistyped(), st.sampled_from(COMMANDS))
@example(f"postgresql:///ana:x:{MARKER}@localhost:1/db", ["sessions", "{}"])
@settings(max_examples=120)
def test_no_command_prints_it(url: str, command: list[str]) -> None:
    out, err, log = io.StringIO(), io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([part.format(url) if part == "{}" else part for part in command])
    finally:
        logging.getLogger().removeHandler(handler)
    assert status != 0
    assert MARKER not in out.getvalue() + err.getvalue() + log.getvalue()
    assert "Traceback" not in err.getvalue()
