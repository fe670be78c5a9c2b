import pytest

# The clauses are plain functions; where pytest runs them it shall show what an assertion saw.
pytest.register_assert_rewrite("tests.conformance.clauses", "tests.conformance.names")
