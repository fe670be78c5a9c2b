"""Running agents: the composer, run commands, holds, breakpoints, pending items, resume."""
