"""Any two things that happen to one database at the same time lose nothing, and no message is false."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.beside.pairs import GOOGLE_REPLACED, HAPPENINGS, PAIRS, USERS, WRITERS, Hosts, Seen, observe
from tests.beside.rows import FULL, OTHER, READ_ONLY, replaces, row_of, table
from tests.end2end.processes import ROOT
from tests.interop.google_adk import adk_python


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """The processes that all pairs share."""
    made = Hosts(tmp_path_factory.mktemp("beside"), adk_python())
    yield made
    made.close()


def _needs_root(pair: tuple[str, str], folder: Path) -> None:
    """Skip a pair whose happening this system cannot make."""
    if FULL in pair or READ_ONLY in pair:
        can_change = os.name == "posix" and os.geteuid() == 0 and shutil.which("chattr") and shutil.which("mount")
        if not can_change or subprocess.run(["chattr", "+i", str(folder)], capture_output=True).returncode:
            pytest.skip("making a folder read-only for root, and a small disk, needs root, chattr and mount")
        subprocess.run(["chattr", "-i", str(folder)], check=True)


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
async def test_a_pair_loses_nothing_and_says_nothing_false(pair: tuple[str, str], hosts: Hosts, tmp_path: Path) -> None:
    _needs_root(pair, tmp_path)
    _check(pair, await observe(hosts, pair))


def _check(pair: tuple[str, str], seen: Seen) -> None:
    told = row_of(pair).told
    assert seen.is_whole
    if pair == GOOGLE_REPLACED:
        assert seen.stored == ["of the other file", "command 4", "command 4 done"]
        return
    assert len(seen.stored) == len({*seen.stored}), "something is stored twice"
    is_other = OTHER in pair and replaces(pair)
    assert seen.stored[:1] == ["of the other file" if is_other else "first"]
    expected = {text for user, each in seen.said.items() if user != "notes" for text in each.committed.values()}
    written = {part for text in expected for part in (text, f"{text} done")}
    lost = written - {*seen.stored}
    assert all(" 1" in text for text in lost) if replaces(pair) else not lost, "only what was in a replaced file may be gone"
    assert {*seen.stored} <= written | {"first", "of the other file"}, "something is stored that was not written"
    for user, each in seen.said.items():
        refused = {2: told} if told and (user in pair or pair[0] in HAPPENINGS) else {}
        assert each.told == refused
        assert [*each.committed] == ([] if user == "tail" else [1, 3] if refused else [1, 2, 3])
        assert each.read[3] == (["notes 3"] if user == "notes" else seen.stored), "it reads something else than what is stored"
        assert 2 in each.read, "what is stored could not be read meanwhile"


def test_every_pair_has_a_row() -> None:
    assert len(PAIRS) == 66
    assert {*WRITERS, "tail", "notes"} == {*USERS}


def test_the_specification_has_the_table() -> None:
    assert table() in (ROOT / "docs" / "specification.md").read_text("utf-8")
