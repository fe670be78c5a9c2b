"""Check session services against the clauses: `python -m tests.conformance [MODULE:FUNCTION...] [--json]`.

Without names, it checks our services, or google-adk's with `INSPECTOR_CONFORMANCE_OF=google.adk` and a Python that has it. To check another
service, name a function that takes a folder and returns the service (see `backends.named_backend`). The exit code is 0 if nothing failed,
else 1.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
import warnings
from dataclasses import asdict

from tests.conformance import clauses
from tests.conformance.backends import NoSuchServiceError, backends, named_backend
from tests.conformance.report import table, try_all


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("services", nargs="*", metavar="MODULE:FUNCTION")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    assert clauses.__all__
    try:
        services = [named_backend(name) for name in options.services]
    except NoSuchServiceError as error:
        parser.error(str(error))
    results = asyncio.run(try_all(services or backends()))
    sys.stdout.write(json.dumps([asdict(result) for result in results]) + "\n" if options.json else table(results) + "\n")
    return int(any(result.outcome == "failed" for result in results))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    status = main()
    sys.stdout.flush()
    # Threads that a service left behind must not keep the process alive.
    os._exit(status)
