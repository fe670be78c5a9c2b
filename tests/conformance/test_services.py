"""Each of our services passes every clause that it supports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance import clauses
from tests.conformance.backends import backends, postgresql
from tests.conformance.clause import CLAUSES, Backend, Clause, UnsupportedError, hold

assert clauses.__all__


@pytest.mark.parametrize("clause", CLAUSES, ids=str)
@pytest.mark.parametrize("backend", [*backends(), postgresql()], ids=lambda backend: backend.name)
async def test_a_service_keeps_a_clause(backend: Backend, clause: Clause, tmp_path: Path) -> None:
    try:
        await hold(backend, clause, tmp_path)
    except UnsupportedError as error:
        pytest.skip(f"unsupported by {backend.name}: {error}")
