"""What turns intent into work, and work into signals: the only code that touches runner, debugger and services."""
