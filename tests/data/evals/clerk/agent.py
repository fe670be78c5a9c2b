"""A clerk whose model is scripted, so that an eval of it needs no key and always gives the same scores."""

from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai import types

ANSWERS: dict[str, list[object]] = {
    "hello": ["Hello! What can I do for you?"],
    "price": [[("price", {"item": "paper"})], "Forty boxes of paper cost 128 euros."],
    "stock": [[("stock", {"item": "paper"}), ("stock", {"item": "ink"})], "There are 12 boxes of paper, and no ink."],
    "chain": [[("stock", {"item": "ink"})], [("order", {"item": "ink", "count": 3})], "I have ordered 3 cartridges of ink."],
    "noisy": [[("price", {"item": "pen"})], [("stock", {"item": "pen"})], "Pens cost 1 euro."],
    "none": [[("order", {})], "Nothing was ordered."],
    "cjk": ["紙は百二十八ユーロです。"],
    "thai": ["กระดาษราคาถูก"],
    "runs": ["Running runners ran; the orders were ordered quickly."],
    "accents": ["Le café coûte trois euros à Liège."],
}


class Script(BaseLlm):
    """A model that answers by the last word of the user's message."""

    model: str = "script"

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """Yield the answer that follows those already given in this turn."""
        said = [index for index, content in enumerate(llm_request.contents) if content.role == "user" and content.parts[0].text]
        turn = llm_request.contents[said[-1] :]
        answer = ANSWERS[turn[0].parts[0].text.split()[-1]][sum(content.role == "model" for content in turn)]
        if isinstance(answer, str):
            parts = [types.Part(text=answer)]
        else:
            parts = [types.Part(function_call=types.FunctionCall(name=name, args=args)) for name, args in answer]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def price(item: str) -> dict:
    """Return an item's price."""
    return {"item": item, "price": 3.2}


def stock(item: str) -> dict:
    """Return how many of an item there are."""
    return {"item": item, "count": 12 if item == "paper" else 0}


def order(item: str = "", count: int = 0) -> dict:
    """Order some of an item."""
    return {"ordered": count, "item": item}


root_agent = LlmAgent(name="clerk", model=Script(), instruction="Help.", tools=[price, stock, order])
