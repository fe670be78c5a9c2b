"""The databases whose run the real google-adk was cut off in, or left waiting, each with what google-adk itself made of it afterwards."""

from __future__ import annotations

import json
from typing import Any

from tests.fixture_paths import fixtures_dir, manifest

BETTER: dict[str, dict[str, Any]] = {
    # google-adk 2.0 called the model again and never ran the tool whose call was committed; ours runs it (contract.md, Runtime).
    "adk2.0.0-v1-llm_root_crash-before": {"price_paper": 500},
}
"""Where the final state differs from google-adk's: the one list of it."""


def resumable_before() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the manifest's entries of the databases before and after."""
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
    """Return a database's one session as the writing google-adk returns it."""
    (session,) = json.loads((fixtures_dir() / "open" / entry["expected"]).read_text("utf-8"))["sessions"]
    return dict(session)


def expected_state(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the final state: google-adk's, where ours is not the better one."""
    better = BETTER.get(before["name"])
    return better if better is not None else dict(expected_session(after)["state"])
