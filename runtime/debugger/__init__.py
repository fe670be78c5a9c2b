"""Hold, step and resume any async generator of events; with its plugin, also inside a run. Knows neither Qt nor the Runner."""
