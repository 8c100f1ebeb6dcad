"""A package index for tests: Python's standard library, wheels that the test makes, downloads that go slow or break."""
