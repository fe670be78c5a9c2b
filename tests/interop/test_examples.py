"""Examples in instructions have google-adk's form."""

from __future__ import annotations

import json
import os
import subprocess

from runtime.examples.example_util import convert_examples_to_text
from runtime.tools import ExampleTool
from tests.interop.engines.conftest import PYTHONS
from tests.unit.tools.test_example_tool import EXAMPLES


def test_the_text_is_google_adks_after_its_introduction() -> None:
    script = (
        "import json, sys\nfrom google.adk.examples.example import Example\nfrom google.adk.examples.example_util import *\n"
        "given = [Example.model_validate(one) for one in json.loads(sys.argv[1])]\n"
        "print(json.dumps([convert_examples_to_text(given, model) for model in (None, 'gemini-2.5-flash', 'gemini-3-pro')]))\n"
    )
    done = subprocess.run(
        [PYTHONS["1.25"](), "-W", "ignore", "-c", script, json.dumps(EXAMPLES)],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    examples = ExampleTool(EXAMPLES).examples  # type: ignore[arg-type]
    assert isinstance(examples, list)
    ours = [convert_examples_to_text(examples, model) for model in (None, "gemini-2.5-flash", "gemini-3-pro")]
    theirs = json.loads(done.stdout.splitlines()[-1])
    assert [text.partition("EXAMPLE 1")[2] for text in ours] == [text.partition("EXAMPLE 1")[2] for text in theirs]
