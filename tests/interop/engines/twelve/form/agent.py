"""Structured input and output."""

from __future__ import annotations

from fake_llm import told
from google.adk.agents import LlmAgent, SequentialAgent
from pydantic import BaseModel, Field


class Address(BaseModel):
    """A place in a town."""

    street: str = Field(description="The street and the number.")
    town: str = "Bern"


reader = LlmAgent(name="reader", model=told('{"street": "Marktgasse 1"}'), output_schema=Address, output_key="address")
printer = LlmAgent(name="printer", model=told("Printed."), instruction="Print {address}.")

root_agent = SequentialAgent(name="form", sub_agents=[reader, printer])
