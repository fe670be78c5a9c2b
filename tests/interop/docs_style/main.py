"""Run every scenario and write the results as one line of JSON."""

from __future__ import annotations

import asyncio
import json
import logging
import sys

import callbacks
import first_agents
import harness
import plugins
import services
import settings
import tools
import workflows

PAGES = (callbacks, first_agents, plugins, services, settings, tools, workflows)

if __name__ == "__main__":
    logging.disable(logging.ERROR)
    sys.stdout.write("RESULT" + json.dumps(asyncio.run(harness.run_all())) + "\n")
