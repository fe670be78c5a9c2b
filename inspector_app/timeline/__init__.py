"""Timeline and charts: when agents, models and tools ran, and what each invocation used."""
