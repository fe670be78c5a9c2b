"""The seed's example word for word, except for its state class, which is commented out there."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator

from typing_extensions import override

from runtime.agents import InvocationContext
from runtime.events import Event
from tests.seeds.resume.story_flow import StoryFlowAgent, StoryFlowAgentState, WorkflowStep

logger = logging.getLogger(__name__)


class StoryFlowAgentAsWritten(StoryFlowAgent):
    """The example, with the constructor of the custom-agents page."""

    # fmt: off
    @override
    async def _run_async_impl(
        self, ctx: InvocationContext
    ) -> AsyncGenerator[Event, None]:
        """
        Implementa la lógica de orquestación personalizada para el flujo de trabajo de la historia.
        Usa los atributos de instancia asignados por Pydantic (ej., self.story_generator).
        """
        agent_state = self._load_agent_state(ctx, WorkflowStep)

        if agent_state is None:
          # Registra el inicio del agente
          agent_state = StoryFlowAgentState(step=WorkflowStep.INITIAL_STORY_GENERATION)
          yield self._create_agent_state_event(ctx, agent_state)

        next_step = agent_state.step
        logger.info(f"[{self.name}] Starting story generation workflow.")

        # Paso 1. Generación Inicial de Historia
        if next_step <= WorkflowStep.INITIAL_STORY_GENERATION:
          logger.info(f"[{self.name}] Running StoryGenerator...")
          async for event in self.story_generator.run_async(ctx):
              yield event

          # Verifica si la historia fue generada antes de proceder
          if "current_story" not in ctx.session.state or not ctx.session.state[
              "current_story"
          ]:
              return  # Detiene el procesamiento si la historia inicial falló

        agent_state = StoryFlowAgentState(step=WorkflowStep.CRITIC_REVISER_LOOP)
        yield self._create_agent_state_event(ctx, agent_state)

        # Paso 2. Bucle Crítico-Revisor
        if next_step <= WorkflowStep.CRITIC_REVISER_LOOP:
          logger.info(f"[{self.name}] Running CriticReviserLoop...")
          async for event in self.loop_agent.run_async(ctx):
              logger.info(
                  f"[{self.name}] Event from CriticReviserLoop: "
                  f"{event.model_dump_json(indent=2, exclude_none=True)}"
              )
              yield event

        agent_state = StoryFlowAgentState(step=WorkflowStep.POST_PROCESSING)
        yield self._create_agent_state_event(ctx, agent_state)

        # Paso 3. Post-Procesamiento Secuencial (Gramática y Verificación de Tono)
        if next_step <= WorkflowStep.POST_PROCESSING:
          logger.info(f"[{self.name}] Running PostProcessing...")
          async for event in self.sequential_agent.run_async(ctx):
              logger.info(
                  f"[{self.name}] Event from PostProcessing: "
                  f"{event.model_dump_json(indent=2, exclude_none=True)}"
              )
              yield event

        agent_state = StoryFlowAgentState(step=WorkflowStep.CONDITIONAL_REGENERATION)
        yield self._create_agent_state_event(ctx, agent_state)

        # Paso 4. Lógica Condicional Basada en Tono
        if next_step <= WorkflowStep.CONDITIONAL_REGENERATION:
          tone_check_result = ctx.session.state.get("tone_check_result")
          if tone_check_result == "negative":
              logger.info(f"[{self.name}] Tone is negative. Regenerating story...")
              async for event in self.story_generator.run_async(ctx):
                  logger.info(
                      f"[{self.name}] Event from StoryGenerator (Regen): "
                      f"{event.model_dump_json(indent=2, exclude_none=True)}"
                  )
                  yield event
          else:
              logger.info(f"[{self.name}] Tone is not negative. Keeping current story.")

        logger.info(f"[{self.name}] Workflow finished.")
        yield self._create_agent_state_event(ctx, end_of_agent=True)
