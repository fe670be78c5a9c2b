"""An order desk: ordinary tools that write all four scopes of state, and an approval that a person gives later.

Ask for "40 boxes of A4 paper": the order is above the limit, so the invocation pauses until a person approves it. The warehouse fails
on the first stock request, to show an error, and answers when asked again.

Runs without a key on a scripted model; with GOOGLE_API_KEY set, on Gemini.
"""

from __future__ import annotations

import os
from typing import Any

from runtime.agents import LlmAgent
from runtime.apps import App, ResumabilityConfig
from runtime.tools import BaseTool, LongRunningFunctionTool, ToolContext

from .script import order_script

MODEL = "gemini-2.5-flash" if os.environ.get("GOOGLE_API_KEY") else order_script()

CATALOGUE: list[dict[str, Any]] = [
    {"sku": "PA4-80", "name": "A4 paper 80 g, box", "price": 4.20, "stock": 310},
    {"sku": "PEN-B", "name": "ballpoint pens blue, pack of 50", "price": 11.50, "stock": 42},
    {"sku": "LMP-1", "name": "desk lamp", "price": 39.90, "stock": 6},
    {"sku": "CHR-2", "name": "office chair", "price": 189.00, "stock": 3},
]


def find_product(query: str, tool_context: ToolContext) -> dict[str, Any]:
    """Find a product in the catalogue.

    Args:
        query: words of its name, such as "A4 paper".
    """
    words = query.lower().split()
    found = [product for product in CATALOGUE if any(word.rstrip("s") in product["name"].lower() for word in words)]
    tool_context.state["temp:query"] = query
    return {"products": [{key: product[key] for key in ("sku", "name", "price")} for product in found]}


def check_stock(sku: str, tool_context: ToolContext) -> dict[str, Any]:
    """Ask the warehouse how many of a product are in stock.

    Args:
        sku: the product's number, such as "PA4-80".
    """
    if tool_context.state.get("app:stock_calls", 0) % 3 == 0:
        raise TimeoutError("the warehouse did not answer within 2 s")
    _count_stock_call(tool_context)
    product = _product(sku)
    return {"sku": sku, "in_stock": product["stock"] if product else 0}


def add_to_cart(sku: str, quantity: int, tool_context: ToolContext) -> dict[str, Any]:
    """Put a product into the cart.

    Args:
        sku: the product's number, such as "PA4-80".
        quantity: how many.
    """
    product = _product(sku)
    if product is None:
        return {"error": f"There is no product {sku}."}
    state = tool_context.state
    cart = [line for line in state.get("cart", []) if line["sku"] != sku]
    cart.append({"sku": sku, "quantity": quantity, "price": product["price"]})
    state["cart"] = cart
    state["total"] = round(sum(line["quantity"] * line["price"] for line in cart), 2)
    limit = state.setdefault("app:limit", 150.0)
    return {"total": state["total"], "approval_limit": limit, "needs_approval": state["total"] > limit}


def ask_for_approval(total: float, reason: str, tool_context: ToolContext) -> dict[str, Any]:
    """Ask a manager to approve an order above the limit. The answer comes later.

    Args:
        total: the order's total in euros.
        reason: why it is needed.
    """
    tool_context.state["approval"] = "asked for"
    return {"status": "pending", "total": total, "reason": reason}


def place_order(tool_context: ToolContext) -> dict[str, Any]:
    """Order what is in the cart, and empty it. Placing the same cart twice makes one order."""
    state = tool_context.state
    if not state.get("cart"):
        return {"order": state.get("last_order"), "note": "The cart is empty; this order was placed before."}
    number = state.get("app:last_order", 1040) + 1
    state["app:last_order"] = number
    state["user:orders"] = [*state.get("user:orders", []), {"number": number, "total": state["total"]}]
    state["last_order"] = number
    state["cart"] = []
    return {"order": number, "total": state["total"], "delivery": "Friday"}


def report_tool_error(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, error: Exception) -> dict[str, Any]:
    """Tell the model what went wrong, so that it can try again, in place of ending the invocation."""
    if tool.name == check_stock.__name__:
        _count_stock_call(tool_context)  # what the tool itself writes before it raises is reverted
    return {"error": str(error)}


def _count_stock_call(tool_context: ToolContext) -> None:
    tool_context.state["app:stock_calls"] = tool_context.state.get("app:stock_calls", 0) + 1


def _product(sku: str) -> dict[str, Any] | None:
    return next((product for product in CATALOGUE if product["sku"] == sku), None)


root_agent = LlmAgent(
    name="order_desk",
    description="Takes orders for office supplies.",
    model=MODEL,
    instruction=(
        "You are the order desk of an office supplier. Find the product, check the stock and put it into the cart. If a tool fails, try it "
        "once more. If the cart needs approval, ask for it, and place the order only when it was approved; otherwise place it at once. "
        "Then tell the customer the order's number, the total in euros and the day of delivery, in one or two sentences."
    ),
    tools=[find_product, check_stock, add_to_cart, LongRunningFunctionTool(func=ask_for_approval), place_order],
    output_key="last_answer",
    on_tool_error_callback=report_tool_error,
)

app = App(name="orders", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
