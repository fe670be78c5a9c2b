"""The tool and the model of the agent in root_agent.yaml."""

from __future__ import annotations

from fake_llm import told

MODEL = told([("weather", {"city": "Bern"})], "It is blue.")


def weather(city: str) -> dict:
    """Return the weather of a city."""
    return {"sky": f"blue over {city}"}
