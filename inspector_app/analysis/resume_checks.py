"""Invocations that cannot be resumed, and checkpoints of agents that no longer exist."""

from __future__ import annotations

from collections.abc import Iterator

from inspector_app.analysis.finding import Finding
from inspector_app.analysis.session_facts import SessionFacts
from inspector_app.presentation.values import visible
from runtime.events.marks import CONFIRMATION_CALL, agent_key, inner_run
from runtime.history.agent_places import AgentPlaces
from runtime.history.agent_tree import AgentTree
from runtime.history.turns import requested_call_id

_KIND = "unreachable resume"


def unreachable_resumes(facts: SessionFacts) -> Iterator[Finding]:
    """Find unfinished invocations that no resume can continue, with any agent."""
    made = {call.id for event in facts.events for call in event.get_function_calls()}
    for name, invocation in facts.unfinished.items():
        events = facts.by_invocation[name]
        if not any(event.author == "user" and event.content for event in events):
            yield facts.finding(
                _KIND,
                "error",
                events[-1].id,
                "The invocation is not finished, and the message that began it is not in the session.",
                "A resume starts from that message, so google-adk and this program refuse it.",
                "Send a new message; the session itself can continue.",
            )
        for item in invocation.pending:
            asked = ((call, inner_run(event)) for event in events for call in event.get_function_calls() if call.id == item.call_id)
            asking, kept = next(asked, (None, None))
            if item.kind == "interrupted" or asking is None:
                continue
            about = kept["call"] if kept else requested_call_id(asking)  # of an agent that runs as a tool, the calls are not in the session
            if not asking.id:
                problem = "The call that waits for an answer has no id"
            elif asking.name == CONFIRMATION_CALL and about not in made:
                problem = "The call that this confirmation is for is not in the session"
            else:
                continue
            yield facts.finding(
                _KIND,
                "error",
                item.event_id,
                f"{problem}, so no answer can reach it.",
                "The invocation stays paused for ever.",
                "Fork the session before the call, and send the message again.",
            )


def missing_agents(facts: SessionFacts, root: AgentTree) -> Iterator[Finding]:
    """Find checkpoints of unfinished invocations that name agents which the tree no longer has.

    Args:
        facts: the session.
        root: the agent tree as it is now.
    """
    places = AgentPlaces(root)
    names = {agent.name for agent in (root, *root.descendants())}
    reported: set[tuple[str, str]] = set()
    for event in reversed(facts.events):
        state = event.actions.agent_state
        if event.invocation_id not in facts.unfinished or state is None:
            continue
        key, current = agent_key(event), state.get("current_sub_agent")
        missing = [key] if places.with_key(key) is None and event.author not in names else []
        if isinstance(current, str) and current and current not in names:
            missing.append(current)
        for agent in missing:
            if (event.invocation_id, agent) in reported:
                continue
            reported.add((event.invocation_id, agent))
            yield facts.finding(
                "missing agent",
                "error",
                event.id,
                f"This checkpoint is {'of' if agent == key else 'at'} {visible(agent)}, which is no longer in the agent tree.",
                "A resume ignores it: a workflow begins again at its first agent, so finished work is repeated.",
                "Give the agent its old name back, or fork the session before this invocation.",
            )
