"""The title of the tab with what an agent wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector_app.detail.output_controller import output_title
from inspector_app.engines.adk_worker.errors import own_traceback
from inspector_app.engines.agent_output import OutputLine


def raised(own: str) -> str:
    """Return what is written of an exception of this module, whose folder is the agent's or is not."""
    try:
        raise ConnectionError("the model is down")
    except ConnectionError as error:
        return own_traceback(error, Path(own))


HERE = str(Path(__file__).parent)


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([], "Output"),
        ([OutputLine("stdout", 'File "a.py" is there')], "Output · 1 line"),
        ([OutputLine("traceback", raised(HERE))], "Traceback"),
        ([OutputLine("traceback", raised("/elsewhere")), OutputLine("stdout", "a")], "Error"),
        ([OutputLine("traceback", raised("/elsewhere")), OutputLine("traceback", raised(HERE))], "Traceback"),
    ],
)
def test_a_traceback_has_frames(lines: list[OutputLine], title: str) -> None:
    assert output_title(lines) == title
