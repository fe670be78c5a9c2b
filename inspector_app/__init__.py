"""The desktop debugger: Qt on top of `runtime`."""
