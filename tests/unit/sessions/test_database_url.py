"""What a database is called, and how it is reached."""

from __future__ import annotations

import pytest

from runtime.sessions.database_url import without_password


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("sessions.db", "sessions.db"),
        ("postgresql+asyncpg://ana:s3cret@host:5433/x", "postgresql://ana@host:5433/x"),
        ("postgresql://host/x?user=ana&password=s3cret", "postgresql://host/x?user=ana"),
    ],
)
def test_what_is_kept_of_a_target_has_no_password(target: str, kept: str) -> None:
    assert without_password(target) == kept
