"""The scripted model of the order sample."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from runtime.models import LlmRequest, ScriptedLlm
from runtime.models.scripted_llm import Reply, Rule, last_message_text

DELAY = float(os.environ.get("AGENT_INSPECTOR_SAMPLE_DELAY", "0.05"))  # seconds between two pieces of a streamed answer; visible growth


def order_script(delay: float = DELAY) -> ScriptedLlm:
    """Return the model of the order desk.

    Args:
        delay: seconds before each piece of an answer.
    """
    return ScriptedLlm(
        model="scripted-order-desk",
        delay=delay,
        rules=[
            Rule(when=r'^check_stock .*"error"', reply=_ask_warehouse_again),
            Rule(when=r'^(find_product|add_to_cart|place_order) .*"error"', reply="That did not work, so I leave it at that."),
            Rule(when=r"^find_product ", reply=_after_search),
            Rule(when=r"^check_stock ", reply=_after_stock),
            Rule(when=r"^add_to_cart ", reply=_after_cart),
            Rule(
                when=r'(?i)^ask_for_approval .*(reject|refuse|denied|"no"|false)',
                reply="The order was not approved, so I did not place it.",
            ),
            Rule(when=r"(?i)^ask_for_approval .*(approve|accept|yes|ok|true)", reply=_place),
            Rule(when=r"^ask_for_approval ", reply="I have asked for the approval. As soon as it is there I place the order."),
            Rule(when=r"^place_order ", reply=_after_order),
            Rule(when=r"(?i)paper|pen|lamp|chair", reply=_search),
            Rule(reply="I sell A4 paper, ballpoint pens, desk lamps and office chairs. What can I send you, and how many?"),
        ],
    )


def _search(request: LlmRequest) -> Reply:
    product = _wanted(request)[1]
    return Reply(thought=f"They want {product}; I need its number first.", calls=[("find_product", {"query": product})])


def _after_search(request: LlmRequest) -> Reply:
    products = _result(request)["products"]
    if not products:
        return Reply(text="I am sorry, we do not sell that.")
    return Reply(
        text=f"Found it: {products[0]['name']} at {products[0]['price']:.2f} €. ", calls=[("check_stock", {"sku": products[0]["sku"]})]
    )


def _ask_warehouse_again(request: LlmRequest) -> Reply:
    return Reply(
        text="The warehouse did not answer. I ask again.", calls=[("check_stock", {"sku": _last_call_args(request, "check_stock")["sku"]})]
    )


def _after_stock(request: LlmRequest) -> Reply:
    result, quantity = _result(request), _wanted(request)[0]
    if result["in_stock"] < quantity:
        return Reply(text=f"Only {result['in_stock']} are in stock. Shall I send those?")
    return Reply(calls=[("add_to_cart", {"sku": result["sku"], "quantity": quantity})])


def _after_cart(request: LlmRequest) -> Reply:
    result = _result(request)
    if not result["needs_approval"]:
        return Reply(calls=[("place_order", {})])
    quantity, product = _wanted(request)
    return Reply(
        text=f"That is {result['total']:.2f} €. Above {result['approval_limit']:.0f} € a manager has to approve it; I have asked.",
        calls=[("ask_for_approval", {"total": result["total"], "reason": f"{quantity} × {product}"})],
    )


def _place(request: LlmRequest) -> Reply:
    return Reply(calls=[("place_order", {})])


def _after_order(request: LlmRequest) -> Reply:
    result = _result(request)
    if "note" in result:
        return Reply(text=f"Order {result['order']} was placed already.")
    return Reply(text=f"Done: order {result['order']}, {result['total']:.2f} €, at your door on {result['delivery']}.")


def _result(request: LlmRequest) -> dict[str, Any]:
    """Return the function response at the end of the request."""
    result: dict[str, Any] = json.loads(last_message_text(request).splitlines()[-1].partition(" ")[2])
    return result


def _last_call_args(request: LlmRequest, name: str) -> dict[str, Any]:
    calls = [part.function_call for content in request.contents for part in content.parts or [] if part.function_call]
    return dict(next(call.args or {} for call in reversed(calls) if call.name == name))


def _wanted(request: LlmRequest) -> tuple[int, str]:
    """Return the quantity and product that the last message about a product asks for."""
    texts = [part.text for content in request.contents if content.role == "user" for part in content.parts or [] if part.text]
    text = next(text for text in reversed(texts) if re.search(r"(?i)paper|pen|lamp|chair", text))
    quantity = re.search(r"(?<![\w-])(\d+)(?![\w-])", text)
    product = re.search(r"(?i)(A4 )?(paper|pen|lamp|chair)", text)
    return int(quantity.group(1)) if quantity else 1, product.group(0) if product else text
