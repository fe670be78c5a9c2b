"""Writing of a capsule and of the test of it."""

from __future__ import annotations

import os
from pathlib import Path

from inspector_app.exchange.capsule import Capsule, write_capsule
from runtime.errors import StorageError
from runtime.storage.connections.new_file import give_name, unfinished_file

TEST = '''"""Fails when the agent no longer does what {capsule} has recorded. Written by `agent-inspector capsule --pytest`."""

from pathlib import Path

from inspector_app.exchange.capsule_check import check_capsule

HERE = Path(__file__).parent
AGENT = HERE / {agent!r}
RUN_TOOLS = True  # False: the tools' recorded results are given


def test_the_agent_does_what_was_recorded() -> None:
    check_capsule(HERE / {capsule!r}, AGENT, run_tools=RUN_TOOLS)
'''


def save_capsule(made: Capsule, out: str, *, replaces: bool = False) -> None:
    """Write a capsule into a file, which has its name only when it is complete.

    Args:
        made: the content.
        out: the file's name as the user wrote it.
        replaces: whether a file of this name is replaced.

    Raises:
        StorageError: the file exists and is not to be replaced, or cannot be written.
    """
    try:
        with unfinished_file(Path(out), 0o600) as unfinished:
            write_capsule(made, unfinished)
            if replaces:
                unfinished.replace(out)
            else:
                give_name(unfinished, Path(out))
    except OSError as error:
        raise StorageError(f"{out} cannot be written: {error.strerror or error}.") from error


def save_test(test: str, capsule: str, agent: str) -> None:
    """Write the test of a capsule.

    Args:
        test: the new file's name as the user wrote it.
        capsule: the capsule.
        agent: the agent's folder or file.

    Raises:
        StorageError: it cannot be written.
    """
    try:
        beside = Path(test).absolute().parent
        names = {"capsule": os.path.relpath(capsule, beside), "agent": os.path.relpath(agent, beside)}
        Path(test).write_text(TEST.format(**names), "utf-8")
    except OSError as error:
        raise StorageError(f"{test} cannot be written: {error.strerror or error}.") from error
