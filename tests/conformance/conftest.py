import pytest

# The clauses are not test modules; this makes pytest show the values in their assertions.
pytest.register_assert_rewrite("tests.conformance.clauses", "tests.conformance.names")
