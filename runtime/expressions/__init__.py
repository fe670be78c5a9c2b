r"""Conditions over events: one language for breakpoints, the stream's filter and `events --where`.

    author == "billing" and kind == "tool call"
    call.pay.args.amount > 5000 and not (call.pay.args.to in ["rent", "tax"])
    state["cart"] changed            state["user:plan"] == "gold"
    text contains "refund"           text ~ "(?i)\brefunds?\b"
    call.order.args.items[*].price >= 100
    response.*.error or error        tokens.total > 20000

Names:

- identity: `author`, `kind` (the stream's words, such as "tool call"), `branch`, `invocation`, `id`, `time` (epoch seconds), `model`
- content: `text`, `thought`, `partial`, `final`, `error` (or `error.code`, `error.message`), `cut_off` (why the model did not end its
  answer itself, such as "MAX_TOKENS"; alone: whether there is such a reason)
- actions: `transfer` (the target agent), `escalate`, `end_of_agent`, `edited` (manually)
- tools: `call.NAME.args.X` and `response.NAME.X`; `call` and `response` alone: the names; `call.*`: all calls
- changes: `delta.KEY`, `artifact.NAME`, `checkpoint.KEY`, `metadata.KEY`; alone: the keys
- `tokens` or `tokens.total`, `tokens.prompt`, `tokens.answer`, `tokens.thoughts`, `tokens.cached`
- `context`: the request's part of its model's window (`context > 0.8`), where the answer has its tokens and a model in the price list
- `state["KEY"]`: the value after the event
- `note` (the text of a note on the event), `bookmarked`: what people noted later, so a breakpoint never sees it
- `json.…`: anything else of the event's JSON; alone: its text

A path may have several values (two calls of one tool, or `*`): a comparison holds if it holds for one of them, and never for a missing
value. Numbers compare by value; texts compare with letter case, except in `contains` and `in`. Expressions never run code: they only read
plain JSON, in a bounded number of steps.

The grammar, as EBNF:

    expression = all , { "or" , all } ;
    all        = negation , { "and" , negation } ;
    negation   = { "not" } , ( "(" , expression , ")" | test ) ;
    test       = value , [ comparison ] ;                      (* a value alone: it exists and is not null, false, 0 or empty *)
    comparison = ( "==" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" , "in" | "contains" ) , value
               | ( "~" | "matches" ) , string                  (* a regular expression matches somewhere in the text *)
               | "changed" ;                                   (* for a state path *)
    value      = string | number | "true" | "false" | "null" | list | path ;
    list       = "[" , [ item , { "," , item } ] , "]" ;       (* item: string, number, true, false or null *)
    path       = name , { "." , ( name | string | "*" ) | "[" , ( string | integer | "*" ) , "]" } ;
    name       = letter or "_" , { letter | digit | "_" | "-" } ;
    string     = '"' … '"' | "'" … "'" ;                       (* \" and \\ are one character; other backslashes are kept, for patterns *)
"""

from runtime.expressions.errors import ExpressionError, ExpressionTooCostlyError
from runtime.expressions.expression import Expression, Template, parse

__all__ = ["Expression", "ExpressionError", "ExpressionTooCostlyError", "Template", "parse"]
