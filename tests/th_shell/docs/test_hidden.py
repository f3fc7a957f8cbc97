"""Which hidden code of a page is run, when, and in which language."""

from typing import Any, cast

import pytest

from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.running.evaluation import HiddenCode
from th_shell.docs.running.processes import LostError, Reply, Run
from th_shell.docs.settings.settings import Hidden


class FakeRun:
    """Notes what it is asked for; 'bad' is an error, 'late' takes too long, 'end' ends the run."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask(self, name: str, body: bytes, seconds: float) -> Reply:
        self.asked.append(f"{name} {body.decode()} {seconds:g}")
        if body == b"end":
            raise LostError("was killed")
        return Reply(error="no" if body == b"bad" else None, late=body == b"late")


def example(language: str, *hidden: str) -> Example:
    """An example with hidden code, each a kind and a text."""
    pairs = (one.split(" ") for one in hidden)
    every = tuple(Hidden(kind, text, f"at {text}") for kind, text in pairs)
    return Example(1, 0, Kind.PROMPT, "x", language=language, hidden=every)


def code(*examples: Example, language: str = "lua") -> tuple[Any, HiddenCode, Run]:
    run = FakeRun()
    own = [one.hidden if one.language == language else () for one in examples]
    return run, HiddenCode(own, 5, set()), cast(Run, run)


def test_each_example_has_what_comes_before_it_once() -> None:
    examples = example("lua", "setup a", "teardown t"), example("lua", "seed 3"), example("lua")
    fake, hidden, run = code(*examples)
    assert [hidden.before(run, 1), hidden.before(run, 2), hidden.end(run)] == ["", "", ""]
    assert fake.asked == ["run a 5", "seed 3 5", "run t 5"]


def test_a_page_in_two_languages() -> None:
    examples = example("lua", "setup a", "teardown t"), example("python", "setup b", "teardown u")
    fake, hidden, run = code(*examples, language="python")
    hidden.before(run, 1)
    hidden.end(run)
    assert fake.asked == ["run b 5", "run u 5"]


def test_how_hidden_code_fails() -> None:
    fake, hidden, run = code(example("lua", "setup late", "setup bad", "teardown bad"))
    assert hidden.before(run, 0) == "the setup at at late was stopped after 5 s"
    assert hidden.end(run) == "the teardown at at bad fails: no"
    assert fake.asked == ["run late 5", "run bad 5", "run bad 5"]


def test_what_ends_a_run_is_left_out_of_the_next() -> None:
    one = example("lua", "setup a", "setup end", "setup b", "teardown end")
    fake, _, run = code(one)
    deadly: set[Hidden] = set()
    hidden = HiddenCode([one.hidden], 5, deadly)
    with pytest.raises(LostError):
        hidden.before(run, 0)
    assert hidden.doing == "the setup at at end"
    hidden = HiddenCode([one.hidden], 5, deadly)
    assert (hidden.before(run, 0), hidden.doing) == ("", "")
    assert fake.asked == ["run a 5", "run end 5", "run a 5", "run b 5"]
    assert hidden.end(run) == "the process was killed in the teardown at at end"
