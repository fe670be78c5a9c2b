"""Tools: synchronous, asynchronous, several in one turn, one that fails and says so, state and files."""

from __future__ import annotations

from fake_llm import told
from google.adk.agents import Agent
from google.adk.tools import ToolContext
from google.genai import types

from .prices import PRICES


def price(item: str) -> dict:
    """Return the price of an item."""
    if item not in PRICES:
        return {"error": f"no {item}"}
    return {"cents": PRICES[item]}


async def put_in_basket(item: str, count: int, tool_context: ToolContext) -> str:
    """Put an item into the basket."""
    tool_context.state["basket"] = {**tool_context.state.get("basket", {}), item: count}
    tool_context.state["user:last_item"] = item
    tool_context.state["temp:scratch"] = count
    return f"{count} {item}"


async def write_bill(tool_context: ToolContext) -> dict:
    """Write the bill."""
    basket = tool_context.state["basket"]
    total = sum(PRICES[item] * count for item, count in basket.items())
    version = await tool_context.save_artifact("bill.txt", types.Part.from_bytes(data=str(total).encode(), mime_type="text/plain"))
    return {"total": total, "version": version}


root_agent = Agent(
    name="shop",
    model=told(
        [("price", {"item": "paper"}), ("price", {"item": "gold"})],
        [("put_in_basket", {"item": "paper", "count": 3}), ("put_in_basket", {"item": "ink", "count": 1})],
        [("write_bill", {})],
        "Here is the bill.",
    ),
    instruction="Sell things. In the basket: {basket?}",
    tools=[price, put_in_basket, write_bill],
)
