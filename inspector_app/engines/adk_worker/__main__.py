"""Starts the worker as a package of its own, under a name that no agent's code has."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

PACKAGE = "agent_inspector_worker"


def main() -> None:
    """Run the worker."""
    folder = Path(__file__).parent
    sys.path[:] = [entry for entry in sys.path if entry != str(folder)]  # the agent's `import sessions` must not find ours
    spec = spec_from_file_location(PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)])
    assert spec is not None and spec.loader is not None
    sys.modules[PACKAGE] = package = module_from_spec(spec)
    spec.loader.exec_module(package)
    import_module(f"{PACKAGE}.worker").main()


if __name__ == "__main__":
    main()
