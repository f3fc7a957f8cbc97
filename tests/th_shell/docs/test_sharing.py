"""Results that processes share. Threads have locks of their own here, as processes have."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from th_shell.docs.plugin import shared_result


def test_a_result_is_computed_once(tmp_path: Path) -> None:
    done: list[str] = []

    def job(name: str) -> str:
        done.append(name)
        return name.upper()

    jobs = {name: lambda name=name: job(name) for name in "abc"}
    for name in "baab":
        assert shared_result(tmp_path / "shared", name, jobs) == name.upper()
    assert done == ["b", "a"]


def test_who_would_wait_computes_other_results(tmp_path: Path) -> None:
    begun, others = Event(), [Event(), Event()]

    def slow() -> str:
        begun.set()
        # It ends when the other one has computed both of the others.
        return "A" if all(event.wait(20) for event in others) else "nobody came"

    def quick(event: Event) -> str:
        event.set()
        return "B"

    jobs = {"b": lambda: quick(others[0]), "a": slow, "c": lambda: quick(others[1])}
    with ThreadPoolExecutor() as pool:
        first = pool.submit(shared_result, tmp_path, "a", jobs)
        assert begun.wait(20)
        assert shared_result(tmp_path, "a", jobs) == "A"
        assert first.result() == "A"


def test_what_has_failed_is_computed_again(tmp_path: Path) -> None:
    def fail() -> str:
        raise RuntimeError("no luck")

    with pytest.raises(RuntimeError, match="no luck"):
        shared_result(tmp_path, "a", {"a": fail})
    assert shared_result(tmp_path, "a", {"a": lambda: "A"}) == "A"
