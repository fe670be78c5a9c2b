"""The scripted model of the story sample: fixed texts for any topic."""

from __future__ import annotations

import os
import re

from runtime.models import LlmRequest, ScriptedLlm
from runtime.models.scripted_llm import Reply, Rule, instruction_text

DELAY = float(os.environ.get("AGENT_INSPECTOR_SAMPLE_DELAY", "0.04"))  # seconds between two pieces of a streamed answer; visible growth

FIRST_DRAFT = (
    "Nobody on the island gave much thought to {topic} until the winter the ferry stopped. Then the days were all alike: wind, salt, "
    "the long stair, the lamp. On the ninth night the lamp went out. There was no oil left, and no one to ask for any. Far out, a ship "
    "blew its horn, twice, and then not again. In the morning there were planks on the beach, and a child's red boot. It was put on "
    "the window sill, where it still stands. It is the only thing up there that is ever dusted."
)
SECOND_DRAFT = (
    "Nobody on the island gave much thought to {topic} until the winter the ferry stopped. The days were all alike: wind, salt, the long "
    "stair. On the ninth night the oil ran out, and the lamp with it. Far out, a ship blew its horn, twice. So every chair in the house "
    "was carried up and burned behind the great lens, one after the other, and last the table. At dawn there was nothing left to sit on, "
    "and nothing on the beach but a red boot, too small for anyone. It stands on the window sill now."
)
THIRD_DRAFT = (
    "Nobody gave much thought to {topic} until the winter the ferry stopped. Wind, salt, the long stair, the lamp. On the ninth night the "
    "oil ran out. Far out, a ship blew its horn, twice. So the chairs were carried up and burned behind the great lens, one by one, and "
    "then the table, and then the door. At dawn the sea was empty. Whether the ship had turned in time, no one came to say. There was only "
    "a red boot on the sand, too small for anyone. It stands on the window sill, turned towards the water."
)
WARMER_STORY = (
    "Nobody gave much thought to {topic} until the winter the ferry stopped. On the ninth night the lamp oil ran out, and far out a ship "
    "blew its horn. So the chairs were carried up and burned behind the great lens, one by one, and then the table. At dawn the whole crew "
    "of the Marta stood in the bare kitchen, dripping, and laughed, because there was nowhere to sit. In spring a crate came: twelve "
    "chairs, no two alike, and a pair of very small red boots, for the next one who would have to climb that stair."
)

FIRST_CRITICISM = "The night the lamp goes out is over too soon, and nobody does anything. Let someone fight for the light, and pay for it."
SECOND_CRITICISM = "Stronger. But the ending explains itself. Leave the ship's fate open, and let the boot look at the sea for us."


def story_script(delay: float = DELAY) -> ScriptedLlm:
    """Return the model for all agents of the sample; it distinguishes them by their instructions.

    Args:
        delay: seconds before each piece of an answer.
    """
    return ScriptedLlm(
        model="scripted-storyteller",
        delay=delay,
        rules=[
            Rule(instruction="(?s)You are a story writer.*said: '[^']*negative", reply=lambda request: _story(WARMER_STORY, request)),
            Rule(instruction="You are a story writer", reply=lambda request: _story(FIRST_DRAFT, request)),
            Rule(instruction="(?s)You are a story critic.*carried up", reply=SECOND_CRITICISM),
            Rule(instruction="You are a story critic", reply=FIRST_CRITICISM),
            Rule(instruction="(?s)You are a story reviser.*ship's fate open", reply=lambda request: _story(THIRD_DRAFT, request)),
            Rule(instruction="You are a story reviser", reply=lambda request: _story(SECOND_DRAFT, request)),
            Rule(instruction="You check grammar", reply="Grammar is good!"),
            Rule(instruction="You check tone", reply="negative"),
        ],
    )


def _story(text: str, request: LlmRequest) -> Reply:
    """Fill in the topic from the writer's instruction, or from the draft in the reviser's."""
    found = re.search("words about (.+?), in this style|gave much thought to (.+?) until", instruction_text(request))
    return Reply(text=text.format(topic=found.group(1) or found.group(2) if found else "the lighthouse"))
