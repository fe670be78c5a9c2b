"""What every command of the command line is tried with. A command without a row fails `architecture/test_command_rows.py`.

The words run in a folder with these files: `ours.db` (one session, `s1`, that waits for an approval), `done.db` (a finished one, `s1`),
`v1.db`, `forked.db`, `noted.db` (a note), `empty.db` (no session), `sessions.jsonl`, `orders.evalset.json`,
`notes.txt`, `copy.deleted-1` (deleted from `ours.db`), `orders` and `story` (agents).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A command line that works.

    Attributes:
        words: as typed in a shell, without the program and `--json`.
        status: the exit status.
        fits: whether its lines are cut to the terminal's width; values, sentences and documents are not.
        silent: whether people get no output, but a sentence on stderr.
        stays: whether it runs until it is interrupted.
    """

    words: str
    status: int = 0
    fits: bool = False
    silent: bool = False
    stays: bool = False


RIGHT: dict[str, tuple[Row, ...]] = {
    "sessions": (
        Row("sessions ours.db", fits=True),
        Row("sessions empty.db", silent=True),
        Row("sessions v1.db --sort cost --where 'events > 1'", fits=True),
        Row("sessions v1.db --where 'title == \"none\"'", silent=True),
    ),
    "events": (
        Row("events ours.db", fits=True),
        Row("events ours.db --last 2", fits=True),
        Row("events ours.db --where 'kind == \"tool call\"' --limit 1", fits=True),
        Row("events ours.db --where 'text contains \"in_stock\"'", silent=True),
    ),
    "state": (Row("state ours.db"), Row("state ours.db --writers cart", fits=True), Row("state ours.db --writers none", silent=True)),
    "invocations": (Row("invocations ours.db", fits=True),),
    "notes": (Row("notes noted.db", fits=True), Row("notes ours.db", silent=True)),
    "note": (Row("note ours.db cdc9893f 'too early'"), Row("note noted.db cdc9893f --delete"), Row("note v1.db cf475386 --bookmark")),
    "name": (Row("name ours.db s1 'Two pallets'"), Row("name v1.db s-1 ''")),
    "costs": (Row("costs ours.db", fits=True), Row("costs ours.db --by tool --price scripted-order-desk=1,2", fits=True)),
    "export": (Row("export ours.db new.html"), Row("export ours.db new.json"), Row("export ours.db -")),
    "capsule": (Row("capsule ours.db new.capsule --yes"),),
    "doctor": (Row("doctor ours.db"), Row("doctor orders")),
    "run": (
        Row("run orders --message '3 boxes of A4 paper' --db new.db"),
        Row("run orders --message '40 boxes of A4 paper' --db new.db --streaming", status=3),
    ),
    "eval": (Row("eval orders orders.evalset.json"),),
    "resume": (Row('resume orders --db ours.db --response \'{"status": "approved"}\''), Row("resume orders --db ours.db", status=3)),
    "attach": (Row("attach", silent=True),),
    "fork": (
        Row("fork ours.db --new-session s2"),
        Row("fork done.db --agent orders --rerun --new-session s2"),
        Row("fork done.db --agent orders --message hello --into new.db"),
    ),
    "forks": (Row("forks forked.db", fits=True),),
    "compare": (Row("compare ours.db ours.db --session s1"), Row("compare ours.db done.db --session s1", status=1)),
    "import": (Row("import sessions.jsonl new.db"),),
    "convert": (Row("convert v1.db new.db"),),
    "recover": (Row("recover ours.db new.db"),),
    "rewind": (Row("rewind ours.db --before e-"), Row("rewind ours.db --before e- --dry-run")),
    "delete": (Row("delete ours.db --session s1 --yes"), Row("delete ours.db --session s1 --dry-run", fits=True)),
    "prune": (Row("prune ours.db --days 0 --yes"), Row("prune ours.db --days 9999 --yes", silent=True)),
    "undelete": (Row("undelete empty.db copy.deleted-1"),),
    "api_server": (Row("api_server orders --port 0", stays=True),),
    "mcp": (Row("mcp ours.db", silent=True, stays=True),),
    "help": (Row("help", fits=True), Row("help run", fits=True), Row("help where")),
    "version": (Row("version", fits=True),),
    "completion": (Row("completion bash"), Row("completion powershell")),
}

WRONG: dict[str, tuple[tuple[str, int], ...]] = {
    "sessions": (
        ("sessions", 2),
        ("sessions none.db", 1),
        ("sessions notes.txt", 1),
        ("sessions .", 1),
        ("sessions ''", 2),
        ("sessions ours.db --sort id", 2),
        ("sessions ours.db --where 'text == 1'", 2),
    ),
    "events": (
        ("events ours.db --last -1", 2),
        ("events ours.db --limit x", 2),
        ("events ours.db --after ''", 2),
        ("events ours.db --after zz", 1),
        ("events ours.db --session zz", 1),
        ("events ours.db --where 'tokens.total > \"x\"'", 2),
        ("events ours.db --where", 2),
        ("events ours.db --last 1 --limit 1", 2),
        ("events empty.db", 1),
    ),
    "state": (("state ours.db --at ''", 2), ("state ours.db --at zz", 1), ("state ours.db --at zz --writers k", 2)),
    "invocations": (("invocations none.db", 1), ("invocations ours.db --user zz", 1)),
    "notes": (("notes none.db", 1), ("notes notes.txt", 1), ("notes ours.db --session zz", 1)),
    "note": (
        ("note ours.db", 2),
        ("note ours.db cdc9893f", 2),
        ("note ours.db cdc9893f hello --delete", 2),
        ("note ours.db cdc9893f --delete", 1),
        ("note ours.db zz hello", 1),
        ("note none.db cdc9893f hello", 1),
        ("note ours.db '' hello", 2),
    ),
    "name": (
        ("name ours.db", 2),
        ("name ours.db s1", 2),
        ("name ours.db zz hello", 1),
        ("name none.db s1 hello", 1),
        ("name ours.db '' x", 2),
    ),
    "costs": (("costs ours.db --by colour", 2), ("costs ours.db --price x", 2), ("costs none.db", 1)),
    "export": (
        ("export ours.db", 2),
        ("export ours.db new.xyz", 2),
        ("export ours.db notes.txt --format md", 1),
        ("export none.db a.md", 1),
        ("export ours.db - --format md --json", 2),
    ),
    "capsule": (
        ("capsule ours.db", 2),
        ("capsule ours.db new.zip", 2),
        ("capsule ours.db new.capsule --pytest test_new.py", 2),
        ("capsule none.db new.capsule", 1),
        ("capsule ours.db new.capsule --session zz", 1),
    ),
    "doctor": (("doctor none", 1), ("doctor orders --python none", 1), ("doctor none.db", 1)),
    "run": (
        ("run orders", 2),
        ("run orders --message ''", 2),
        ("run none --message hello", 1),
        ("run orders --message hello --state '[1]'", 2),
        ("run orders --message hello --db none/new.db", 1),
        ("run orders --message hello --db notes.txt", 1),
        ("run orders --message hello --engine none", 2),
        ("run orders --message hello --python none", 1),
    ),
    "eval": (
        ("eval orders", 2),
        ("eval none orders.evalset.json", 1),
        ("eval orders none.json", 1),
        ("eval orders notes.txt", 1),
        ("eval orders orders.evalset.json:zz", 1),
        ("eval orders orders.evalset.json --config notes.txt", 1),
    ),
    "resume": (
        ("resume orders --db none.db", 1),
        ("resume orders --db done.db", 1),
        ("resume orders --db ours.db --response x", 2),
        ("resume orders --db ours.db --call c", 2),
        ("resume orders --db ours.db --call c --response '{}'", 1),
        ("resume orders --db ours.db --invocation zz", 1),
    ),
    "attach": (("attach none", 1), ("attach none --theme pink", 2)),
    "fork": (
        ("fork ours.db --at zz", 1),
        ("fork ours.db --at zz --before zz", 2),
        ("fork ours.db --new-session s1", 1),
        ("fork ours.db --agent orders", 2),
        ("fork ours.db --rerun", 2),
        ("fork ours.db --artifacts none", 1),
        ("fork none.db", 1),
    ),
    "forks": (("forks none.db", 1), ("forks notes.txt", 1)),
    "compare": (
        ("compare ours.db --session s1", 2),
        ("compare ours.db none.db --session s1", 1),
        ("compare ours.db done.db --session zz", 1),
    ),
    "import": (
        ("import none new.db", 1),
        ("import notes.txt new.db", 1),
        ("import sessions.jsonl ours.db", 1),
        ("import sessions.jsonl", 2),
    ),
    "convert": (("convert v1.db ours.db", 1), ("convert none.db new.db", 1), ("convert notes.txt new.db", 1), ("convert v1.db", 2)),
    "recover": (("recover ours.db", 2), ("recover none.db new.db", 1), ("recover notes.txt new.db", 1), ("recover ours.db done.db", 1)),
    "rewind": (
        ("rewind ours.db", 2),
        ("rewind ours.db --before zz", 1),
        ("rewind v1.db --before e-", 2),
        ("rewind none.db --before e-", 1),
    ),
    "delete": (
        ("delete ours.db", 2),
        ("delete ours.db --session zz --yes", 1),
        ("delete ours.db --session s1 --yes --dry-run", 2),
        ("delete v1.db --session s --yes", 1),
    ),
    "prune": (("prune ours.db", 2), ("prune ours.db --days x", 2), ("prune none.db --days 0 --yes", 1), ("prune v1.db --days 0 --yes", 1)),
    "undelete": (
        ("undelete ours.db", 2),
        ("undelete ours.db none", 1),
        ("undelete ours.db v1.db", 1),
        ("undelete none.db copy.deleted-1", 1),
    ),
    "api_server": (("api_server none", 1), ("api_server orders --port 99999", 2), ("api_server orders --host example.com", 1)),
    "mcp": (("mcp none.db", 1), ("mcp notes.txt", 1), ("mcp orders", 1)),
    "help": (("help sesions", 2), ("help run now", 2)),
    "version": (("version now", 2),),
    "completion": (("completion", 2), ("completion tcsh", 2)),
}
