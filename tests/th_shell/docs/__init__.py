"""Tests of the documentation runner, named after its modules."""
