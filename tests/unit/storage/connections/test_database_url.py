"""Database URLs and their passwords."""

from __future__ import annotations

import pytest

from runtime.storage.connections.database_url import database_url, keep_password, without_written_password


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("sqlite:///sessions.db", "sqlite:///sessions.db"),
        ("postgresql+asyncpg://ana:s3cret@host:5433/x", "postgresql://ana@host:5433/x"),
        ("postgresql://host/x?user=ana&password=s3cret", "postgresql://host/x?user=ana"),
    ],
)
def test_keep_password_returns_a_url_without_the_password(target: str, kept: str) -> None:
    assert keep_password(target) == kept
    assert database_url(kept) == database_url(target), "this process remembers the password"


def test_a_separate_password_is_remembered() -> None:
    assert keep_password("postgresql://eva@host/x", "s3cret") == "postgresql://eva@host/x"
    assert database_url("postgresql://eva@host/x").password == "s3cret"


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("foo://bar", "foo://bar"),
        ("foo://ana:s3cret@bar/x", "foo://ana@bar/x"),
        ("postgresql://ana:s3/c@ret@host:port/x?sslpassword=s3cret&a=b", "postgresql://ana@host:port/x?sslpassword=&a=b"),
    ],
)
def test_typed_text_is_unchanged_except_for_passwords(written: str, kept: str) -> None:
    assert without_written_password(written) == kept
