"""Sessions made of OpenTelemetry's spans of agents, of any framework."""
