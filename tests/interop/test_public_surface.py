"""Our public classes and functions have the parameter names, kinds and defaults of google-adk 1.39.1."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.interop.google_adk import adk_1_python
from tests.seeds.import_paths import PATHS

ROOT = Path(__file__).resolve().parents[2]

# What is missing or different in ours, as `Class.method.parameter kind default` (or `Class.method`) → reason.
DIFFERENCES = {
    r"\.from_config$": "agents in YAML files are google-adk's",
    r"^InvocationContext\.(live_session|active|transcription|input_realtime|output_realtime)_\w+ ": "state of its live flow",
    r"^RunConfig\.check_for_deprecated_save_live_audio$": "live audio",
    r"(cache_config|cache_metadata|cacheable_contents_token_count) ": "context caching is out of scope",
    r"interaction_id ": "the interactions API is out of scope",
    r"^InvocationContext\.(events_compaction_config|token_compaction_checked|canonical_tools_cache|credential_by_key) ": "state of its"
    " own flows",
    r"\.(validate_\w+|populate_name|canonical_\w+_callbacks|set_default_model|check_require_confirmation)$": "internal",
    r"\.apply_thinking_config$": "internal",
    r"^RunConfig\.max_llm_calls ": "its default can be set in the environment, as in 2.x",
    r"^PluginManager\.run_\w+_callback\.": "each takes its hook's arguments, by name",
    r"^DatabaseSessionService\.db_url ": "`db_engine` can be given instead, as in 2.x",
    r"^DatabaseSessionService\.delete_session\.\w+ ": "keyword-only, as in every other service of google-adk",
    r"^EventsCompactionConfig\.(compaction_interval|overlap_size) ": "optional if a token threshold is given",
    r"^InMemoryArtifactService\.artifacts ": "internal data",
    r"^Event\.id ": "generated at once, not in a second step",
    r"^Event\.author ": "the agent fills it in if it is missing, as in 2.x",
    r"^CallbackContext\.(get_auth_response|request_\w+|function_call_id.*|tool_confirmation.*)$": "1.39 has one class for both contexts;"
    " members that need a call are on ToolContext, as in 1.25",
    r"^ToolContext\.(function_call_id|tool_confirmation)$": "plain attributes",
    r"^LlmRequest\.set_output_schema\.base_model ": "deprecated there in favour of output_schema",
    r"^LlmRequest\.set_output_schema\.output_schema ": "the only way to give the schema, so it is required",
    r"^(InMemory)?Runner\.run\.new_message ": "resuming needs none",
    r"^(AlreadyExists|InputValidation)Error\.message ": "our own wording",
}


@cache
def surface(python: str, package: str) -> dict[str, Any]:
    code = [python, "-W", "ignore", str(Path(__file__).parent / "public_surface.py"), package, json.dumps(PATHS)]
    done = subprocess.run(code, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr[-2000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def missing_or_other() -> list[str]:
    """Return parameters that are missing or different in ours, and required parameters of ours that google-adk does not have."""
    ours, theirs = surface(sys.executable, "runtime"), surface(adk_1_python(), "google.adk")
    found = []
    for thing, members in theirs.items():
        for member, parameters in members.items():
            path = ".".join(filter(None, (thing, member)))
            if member not in ours[thing]:
                found.append(path)
                continue
            known = ours[thing][member]
            found += [f"{path}.{name} {' '.join(told)}" for name, told in parameters.items() if known.get(name) != told]
            found += [f"{path}.{name} (ours)" for name in known.keys() - parameters.keys() if known[name] == ["KEYWORD_ONLY", "required"]]
    return found


@pytest.mark.rule("R11")
def test_our_signatures_match_google_adks() -> None:
    unlisted = [line for line in missing_or_other() if not any(re.search(pattern, line) for pattern in DIFFERENCES)]
    assert unlisted == []


@pytest.mark.parametrize("pattern", DIFFERENCES)
def test_every_listed_difference_exists(pattern: str) -> None:
    assert any(re.search(pattern, line) for line in missing_or_other())
