"""Agent trees of every kind and nesting, described in the fixtures' format (`tests.agent_specs`)."""

from __future__ import annotations

from typing import Any

Spec = dict[str, Any]


def says(name: str, text: str | None = None, **more: Any) -> Spec:
    """An agent that answers at once."""
    return {"type": "llm", "name": name, "script": [{"text": text or f"{name} is done"}], **more}


def works(name: str, *turns: list[list[Any]], end: bool = True, **more: Any) -> Spec:
    """An agent that makes calls in one or more turns and then answers."""
    script: list[Spec] = [{"calls": calls} for calls in turns]
    tools = sorted({call[0] for calls in turns for call in calls} - {"transfer_to_agent", "set_model_response"})
    return {"type": "llm", "name": name, "script": script + ([{"text": f"{name} is done"}] if end else []), "tools": tools, **more}


def notes(name: str, *, key: bool = False) -> Spec:
    """An agent that notes something down and answers."""
    return works(name, [note(name)], **({"output_key": f"{name}_said"} if key else {}))


def note(what: str) -> list[Any]:
    """A call of the tool `note`."""
    return ["note", {"what": what}]


def talks(name: str) -> Spec:
    """An agent that says something beside each of its calls; its key gets all of it."""
    script = [{"calls": [note(f"{name}{number}")], "text": f"{name} calls {number}. "} for number in (1, 2)]
    return {**works(name, [note(name)], output_key=f"{name}_said"), "script": [*script, {"text": f"{name} is done"}]}


def seq(name: str, *subs: Spec) -> Spec:
    """A SequentialAgent."""
    return {"type": "sequential", "name": name, "sub_agents": list(subs)}


def par(name: str, *subs: Spec) -> Spec:
    """A ParallelAgent."""
    return {"type": "parallel", "name": name, "sub_agents": list(subs)}


def loop(name: str, *subs: Spec, rounds: int = 2) -> Spec:
    """A LoopAgent."""
    return {"type": "loop", "name": name, "sub_agents": list(subs), "max_iterations": rounds}


def steps(name: str, *subs: Spec) -> Spec:
    """A custom agent with checkpoints that says something, then runs each sub-agent as a step."""
    own = [{"name": "hello", "text": f"{name} begins", "state": {f"{name}_began": True}}]
    runs = [{"name": sub["name"], "run": sub["name"]} for sub in subs]
    return {"type": "steps", "name": name, "steps": [*own, *runs], "sub_agents": list(subs)}


def plain(name: str, *subs: Spec) -> Spec:
    """A custom agent without checkpoints that says something, runs its sub-agents in order, and says something again."""
    return {"type": "plain", "name": name, "sub_agents": list(subs)}


def leaver(name: str) -> Spec:
    """An agent that stays in its loop for a round, then leaves it."""
    return {"type": "llm", "name": name, "script": [{"text": "once more"}, {"calls": [["leave_loop", {}]]}], "tools": ["leave_loop"]}


def hands_over(name: str, to: str, *subs: Spec) -> Spec:
    """An agent that transfers to another one."""
    return works(name, [["transfer_to_agent", {"agent_name": to}]], end=False, sub_agents=list(subs), description=f"asks {to}")


def asks(name: str, tool: str = "order", **more: Any) -> Spec:
    """An agent with a call that needs an answer from outside."""
    return works(name, [[tool, {"what": name}]], **more)


def again(name: str, said: int, what: str) -> Spec:
    """An agent whose model sees a number of messages of other agents of its name, as its own, before it notes something down."""
    spec = works(name, [note(what)])
    return {**spec, "script": [{"text": ""}] * said + spec["script"]}


TREES: dict[str, Spec] = {
    # One agent of each kind
    "tools": works("solo", [note("one")], [note("two")], output_key="solo_said"),
    "parallel calls": works("solo", [note("one"), note("two"), note("three")]),
    "text beside calls": talks("solo"),
    "text beside calls in a loop": loop("l", talks("a"), says("b")),
    "text beside calls in parallel": par("p", talks("a"), seq("s", notes("b"), talks("c"))),
    "text beside calls before a transfer": hands_over("root", "sub", talks("sub")),
    "text beside a call that waits": {
        **asks("a", "pay", output_key="a_said"),
        "script": [{"calls": [["pay", {"what": "a"}]], "text": "Look. "}, {"text": "a is done"}],
    },
    "streaming": {**works("solo", [note("one")]), "streaming": True},
    "sequential": seq("s", says("a", output_key="a_said"), notes("b"), says("c")),
    "loop to its end": loop("l", notes("a"), says("b")),
    "loop that is left": loop("l", leaver("a"), notes("b"), rounds=4),
    "parallel": par("p", notes("a", key=True), says("b", output_key="b_said"), works("c", [note("c1"), note("c2")])),
    "custom": steps("flow", notes("a"), says("b")),
    "custom without checkpoints": plain("flow", notes("a"), says("b")),
    "custom without agents": {"type": "emit", "name": "e", "lines": ["one", "two", "three"]},
    "transfer": hands_over("root", "sub", notes("sub")),
    "transfer twice": hands_over("root", "a", hands_over("a", "b", notes("b"))),
    "agent as a tool": {**works("root", [["inner", {"request": "go"}], note("outer")]), "agent_tools": [notes("inner", key=True)]},
    "answer in a shape": {**works("solo", [note("one")], [["set_model_response", {"total": 3}]], end=False), "shape": True},
    "callbacks that write": seq("s", {**notes("a"), "marks": True}, {**says("b"), "marks": True}) | {"marks": True},
    # Agents of one name
    "one name for three agents": seq("s", notes("a"), again("a", 2, "second"), says("b"), again("a", 4, "third")),
    "one name at all depths": seq(
        "s",
        notes("a"),
        loop("a", again("a", 2, "round")),
        par("p", seq("x", again("a", 5, "x"), says("b")), seq("x", again("a", 5, "y"), says("b"))),
    ),
    "one name in parallel": par("p", notes("a"), again("a", 0, "other"), says("b")),
    "one name in custom agents": seq("s", steps("flow", notes("a")), steps("flow", again("a", 2, "second")), again("a", 4, "third")),
    # Pending items
    "long-running": asks("a"),
    "long-running without a receipt": asks("a", "silent_order"),
    "confirmation": asks("a", "pay"),
    "confirmation asked by the tool": asks("a", "ask_first"),
    "credential": asks("a", "log_in"),
    "several that wait": works("a", [["order", {"what": "x"}], ["pay", {"what": "y"}], note("z"), ["order", {"what": "w"}]]),
    "one after the other waits": works("a", [["order", {"what": "x"}]], [["pay", {"what": "y"}]]),
    # Nestings
    "sequential in loop": loop("l", seq("s", notes("a"), says("b"))),
    "parallel in loop": loop("l", par("p", notes("a"), says("b"))),
    "loop in sequential in parallel": par("p", seq("s", loop("l", leaver("a"), says("b")), notes("c")), notes("d")),
    "loop in loop": loop("outer", loop("inner", leaver("a"), notes("b"), rounds=3)),
    "parallel in parallel": par("p", par("q", notes("a"), says("b")), notes("c")),
    "custom with workflows": steps("flow", par("p", notes("a"), says("b")), loop("l", leaver("c"), notes("d"))),
    "custom in loop": loop("l", steps("flow", notes("a")), says("b")),
    "custom without checkpoints round workflows": plain("flow", seq("s", notes("a"), says("b")), loop("l", notes("c"))),
    "custom without checkpoints in workflows": seq("s", notes("a"), loop("l", plain("flow", notes("b"))), says("c")),
    "custom in custom": steps("outer", steps("inner", notes("a")), says("b")),
    "transfer in sequential": seq("s", hands_over("a", "sub", notes("sub")), says("b")),
    "transfer in loop": loop("l", hands_over("a", "sub", notes("sub"))),
    "transfer to a workflow": hands_over("root", "s", seq("s", notes("a"), says("b"))),
    "agent as a tool in parallel": par("p", {**works("a", [["inner", {"request": "go"}]]), "agent_tools": [notes("inner")]}, notes("b")),
    "workflow as a tool": {**works("root", [["s", {"request": "go"}]]), "agent_tools": [seq("s", notes("x"), notes("y"))]},
    "long-running in sequential": seq("s", says("a"), asks("b"), notes("c")),
    "confirmation in loop": loop("l", asks("a", "pay"), notes("b")),
    "two branches wait": seq("s", par("p", asks("a"), asks("b", "pay"), notes("c")), notes("d")),
    "long-running in custom": steps("flow", asks("a"), notes("b")),
    "confirmation after a transfer": hands_over("root", "sub", asks("sub", "pay")),
}
