"""All differences between the embedded runtime's requests to models and google-adk's, with reasons; everything else is equal."""

from __future__ import annotations

OLD, NEW = "1.39", "2.13"

# Pattern of a place in the requests → the versions that differ there, and why.
DIFFERENCES: dict[str, tuple[tuple[str, ...], str]] = {
    r"config\.system_instruction$": ((OLD, NEW), "wording; `TOPICS` lists what the instructions must say, in this order"),
    r"function_declarations\[\d+\]\.description$": ((OLD, NEW), "wording of our own tools, and docstrings without their indentation"),
    r"function_response\.response\.status$": ((OLD, NEW), "wording of the answer of `load_artifacts`"),
    r"contents\[\d+\]\.parts\[[1-9]\]\.text$": (
        (OLD, NEW),
        "wording of what other agents did; arguments and results are JSON instead of Python's text, and 2.13 also quotes them",
    ),
    r"contents\[\d+\]\.parts\[0\]\.text$": (
        (OLD, NEW),
        "2.13 and ours say that a dynamic instruction is no user's message, in other words; 2.13 says so of other agents' words too",
    ),
    r"parameters\.properties\.pages\.default$": ((OLD,), "1.39 leaves out the defaults of an answer's fields"),
    r"function_declarations\[\d+\]\.parameters\.required$": ((OLD,), "1.39 requires fields of an answer that have a default"),
    r"function_declarations\[\d+\]\.parameters(_json_schema)?$": (
        (NEW,),
        "2.13 writes parameters as JSON schemas; ours are 1.x's, which mean the same",
    ),
    r"^\[1[68]\]\.contents\[0\]\.parts\[0\]\.text$": ((OLD,), "wording of the request for a summary: `SUMMARY_TOPICS`, which are 2.13's"),
    r"^\[17\]\.contents\[0\]\.parts\[0\]\.text$": ((OLD,), "wording of the line before a summary"),
    r"^\[17\]\.contents\[0\]\.(parts|role)$": ((NEW,), "2.13 gives a summary as the model's own words; ours says that it is a summary"),
    r"^\[13\]\.contents$": (
        (OLD,),
        "after a transfer, an agent with include_contents='none' sees the user's message in 2.13, but in 1.x only the transfer",
    ),
}

# A topic → words of ours and of google-adk's that tell of it.
TOPICS = {
    "the global instruction": (r"All are kind", r"All are kind"),
    "the static instruction": (r"You never change", r"You never change"),
    "the instruction": (r"Lead them|Report about \w+", r"Lead them|Report about \w+"),
    "name": (r'Your internal name is "\w+"', r'Your internal name is "\w+"'),
    "description": (r'The description about you is "[\w ]+\."', r'The description about you is "[\w ]+\."'),
    "the form of the answer": (r"give it by calling `set_model_response`", r"provide your final response using the set_model_response"),
    "the other agents": (r"other agents can take over", r"a list of other agents to transfer to"),
    "answering oneself": (r"Answer yourself if", r"If you are the best to answer the question"),
    "a better agent": (r"description of another agent fits the question better", r"If another agent is better for answering"),
    "a transfer without words": (r"nothing besides the call", r"do not generate any text other than the function"),
    "only these agents": (r"accepts no names but these", r"the only available agents for"),
    "memory": (r"You remember earlier conversations.*call `load_memory`", r"You have memory.*call load_memory"),
    "files": (r"There are these files.*call `load_artifacts`", r"You have a list of artifacts.*load_artifacts"),
}

# What `PlanReActPlanner` asks of a model, in this order.
PLAN_TOPICS = {
    "tools first": (r"rely on them more than on what you remember", r"leverage the available tools to gather the information instead"),
    "the plan": (r"/\*PLANNING\*/ a numbered plan", r"under /\*PLANNING\*/"),
    "actions": (r"/\*ACTION\*/ the tools", r"under /\*ACTION\*/"),
    "reasons": (r"/\*REASONING\*/ between them", r"under /\*REASONING\*/"),
    "questions": (r"Ask when something is unclear", r"ask for clarification"),
    "no repeated calls": (r"before you call a tool again", r"instead of repeated tool use"),
}

# What a request for a summary asks for, in 2.13 and here, in any order.
SUMMARY_TOPICS = {
    "an earlier summary": (r"may begin with an earlier summary", r"may or may not start from a compacted history"),
    "the user's wish": (r"what the user wants", r"reiterate the user request"),
    "decisions": (r"what was decided", r"key decisions"),
    "findings": (r"what was found out", r"information obtained"),
    "open questions": (r"still open", r"unresolved questions"),
    "the language": (r"name the language", r"primary language"),
    "the tools": (r"name the tools that were called", r"exact tool names"),
    "brevity": (r"Be brief", r"concise"),
    "calls": (r'planner calls look_up \{"word": "x"\}', r"planner called tool: look_up\(\{'word': 'x'\}\)"),
    "results": (r'look_up returns \{"meaning": "of x"\}', r"Tool response from look_up: \{'meaning': 'of x'\}"),
    "thoughts": (r"planner thinks: .*1\. Think", r"planner \(thought\): .*1\. Think"),
    "the answer": (r"planner: ?One", r"planner: *One"),
}
