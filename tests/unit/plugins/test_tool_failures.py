"""Results of tools that plugins record as failures."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.models.scripted_llm import Reply
from runtime.plugins import LoggingPlugin, ToolResultClassification
from runtime.tools import FunctionTool
from tests.seeds.running import llm_agent, run, runner_for

RESULTS: dict[str, Any] = {
    "fine": {"status": "fine"},
    "lost": {"status": "lost"},
    "mcp": {"isError": True, "content": []},
    "excused": {"isError": True, "status": "excused"},
    "unknown": {"status": "unknown"},
}


def look_up(word: str) -> dict[str, Any]:
    """Looks a word up."""
    if word == "raises":
        raise ValueError("no such word")
    found: dict[str, Any] = RESULTS[word]
    return found


def classify(*, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any) -> ToolResultClassification | None:
    status = result.get("status")
    if status == "unknown":
        raise KeyError("secret")
    if status == "lost":
        return ToolResultClassification("ERROR", f"{tool.name} lost {tool_args['word']}")
    return ToolResultClassification("OK") if status == "excused" else None


def calls(*words: str) -> Any:
    return llm_agent("finder", *(Reply(calls=[("look_up", {"word": word})]) for word in words), "done", tools=[FunctionTool(look_up)])


@pytest.mark.logs("tool_result_classifier failed for a result of look_up: KeyError.")
async def test_the_log_has_the_failures_that_results_report(capsys: pytest.CaptureFixture[str]) -> None:
    agent = calls(*RESULTS, "raises")
    agent.on_tool_error_callback = lambda tool, args, tool_context, error: {"error": "answered in its place"}
    await run(runner_for(agent, plugins=[LoggingPlugin(tool_result_classifier=classify)]))
    said = [line for line in capsys.readouterr().out.splitlines() if "tool look_up" in line and "is called" not in line]
    assert [line.split("tool look_up ")[1][:28] for line in said] == [
        "returned {'status': 'fine'}",
        "failed: look_up lost lost (i",
        "failed: The tool's result ha",
        "returned {'isError': True, '",
        "returned {'status': 'unknown",
        "failed: ValueError: no such ",
    ]


async def asynchronous(**_: Any) -> None:
    """Is no classifier."""


@pytest.mark.parametrize(
    ("wrong", "why"), [("text", "plain function"), (asynchronous, "not an async one"), (lambda result: None, "unexpected|too many|got an")]
)
def test_a_classifier_that_could_not_be_called_is_refused(wrong: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        LoggingPlugin(tool_result_classifier=wrong)


def test_a_classification_has_two_states() -> None:
    with pytest.raises(ValueError, match="'OK' or 'ERROR'"):
        ToolResultClassification("FAILED")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="error_message"):
        ToolResultClassification("ERROR", 5)  # type: ignore[arg-type]
