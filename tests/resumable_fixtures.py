"""Fixture databases in which the real google-adk crashed or paused, each with google-adk's own result of resuming."""

from __future__ import annotations

import json
from typing import Any

from tests.fixture_paths import fixtures_dir, manifest

# All differences from google-adk's final state.
BETTER: dict[str, dict[str, Any]] = {
    # google-adk 2.0 called the model again and never ran the tool whose call was committed; our runtime runs it.
    "adk2.0.0-v1-llm_root_crash-before": {"price_paper": 500},
}


def resumable_before() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the manifest's entries for the databases before and after."""
    by_name = {entry["name"]: entry for entry in manifest()}
    pairs = []
    for entry in manifest():
        after = by_name.get(entry["name"].replace("-before", "-after"))
        apps = list((entry.get("apps") or {}).values())
        resumable = len(apps) == 1 and apps[0].get("resumable") and isinstance(apps[0]["agent"], dict)
        if entry["phase"] == "before" and entry["layout"] in ("v1", "sqlite") and resumable and after is not None:
            pairs.append((entry, after))
    return pairs


def expected_session(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a database's only session as returned by the google-adk version that wrote it."""
    (session,) = json.loads((fixtures_dir() / "open" / entry["expected"]).read_text("utf-8"))["sessions"]
    return dict(session)


def expected_state(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the expected final state: google-adk's, except for the listed differences."""
    better = BETTER.get(before["name"])
    return better if better is not None else dict(expected_session(after)["state"])
