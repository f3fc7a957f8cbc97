"""%reload and %autoreload: modules whose files have changed, and who holds what is of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.session.session import Session

Printed = Callable[[], str]
Change = Callable[..., None]

MODULE = data(__file__, "MODULE")
USE = data(__file__, "USE")


@pytest.fixture
def change(tmp_path: Path) -> Change:
    """Writes the file of the module, with replacements."""

    def write(*pairs: tuple[str, str], text: str = MODULE) -> None:
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "farm.lua").write_text(text)

    return write


@pytest.fixture
def farm(session: Session, printed: Printed) -> Session:
    """A session that has required the module, and has objects of its class."""
    session.submit(USE)
    assert printed() == ""
    return session


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    monkeypatch.chdir(tmp_path)
    change()


NEW = tuple(data(__file__, "NEW"))


def test_classes_and_tables_are_changed_in_place(
    farm: Session, printed: Printed, change: Change
) -> None:
    change(*NEW)
    farm.submit("%reload")
    assert printed() == "farm is loaded anew\n"
    for source, output in (
        ("cow:speak(), calf:speak(), Animal():speak()", "muh\tmuh\tmuh\t\n"),
        ("cow.old, cow:new_one(), calf.added()", "nil\tnew\tby another\t\n"),
        ("held.f()", "two\t1\t\n"),
        ("held.old, held.fresh() == getmetatable(cow)", "nil\ttrue\t\n"),
        ("held == require 'farm', torch.type(cow), cow.legs", "true\tAnimal\t4\t\n"),
        ("held.count = 7; m.f()", ""),
    ):
        farm.submit(source)
        assert printed() == (output or "two\t7\t\n"), source


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("return M", "return M M"), "syntax error: ./farm.lua:9: '<eof>' expected near 'M'\n"),
        (("return M", "no.x = 1"), "./farm.lua:9: attempt to index global 'no' (a nil value)\n"),
    ],
)
def test_the_old_module_stays_where_the_new_one_fails(
    farm: Session, printed: Printed, change: Change, pair: tuple[str, str], message: str
) -> None:
    change(*NEW, pair)
    farm.submit("%reload farm")
    said = printed()
    assert said.startswith("farm is not loaded anew, and stays as it was:\n")
    assert message.removeprefix("syntax error: ") in said
    farm.submit("return cow:speak(), cow:old(), cow.new_one, held.f()")
    farm.submit("held.old ~= nil, held.fresh, held == require 'farm'")
    assert printed() == "moo\told\tnil\tone\t1\t\ntrue\tnil\ttrue\t\n"


def test_another_parent(farm: Session, printed: Printed, change: Change) -> None:
    farm.submit("do local Being = torch.class('Being') function Being:lives() return 'yes' end end")
    change(("torch.class('Animal')", "torch.class('Animal', 'Being')"))
    farm.submit("%reload")
    farm.submit("calf:lives()")
    assert printed() == "farm is loaded anew\nyes\t\n"


def test_globals_and_modules_that_return_nothing(
    session: Session, printed: Printed, change: Change
) -> None:
    change(text="farm = {}\nfunction farm.f() return 1 end\n")
    session.submit("require 'farm'")
    change(text="farm = farm or {}\nfunction farm.g() return 2 end\n")
    session.submit("%reload")
    session.submit("farm.g()")
    assert printed() == "true\t\nfarm is loaded anew\n2\t\n"


def test_classes_of_others_are_not_changed(farm: Session, printed: Printed, change: Change) -> None:
    change(("torch.class('Animal')", "torch.class('Calf')"))
    farm.submit("%reload")
    assert "Calf has been already assigned a factory" in printed()
    farm.submit("torch.class('Animal')")
    assert "Animal has been already assigned a factory" in printed()


def test_it_happens_before_each_input_where_that_is_wanted(
    farm: Session, printed: Printed, change: Change
) -> None:
    farm.submit("%autoreload on")
    change(*NEW)
    farm.submit("cow:speak()")
    change(*NEW, ("return M", "return M M"))
    farm.submit("cow:speak()")
    shown = printed()
    assert shown.startswith(
        "changed modules are loaded anew before each input\nfarm is loaded anew\nmuh\t\n"
        "farm is not loaded anew, and stays as it was:\n"
    )
    assert shown.endswith("\nmuh\t\n")
    farm.submit("cow:speak()")  # the wrong version is not told of again
    assert printed() == "muh\t\n"
    farm.submit("%autoreload off")
    change()
    farm.submit("cow:speak()")
    assert printed() == "changed modules are not loaded anew before each input\nmuh\t\n"


@pytest.mark.parametrize(
    ("text", "output"),
    data(__file__, "test_what_is_said"),
)
def test_what_is_said(farm: Session, printed: Printed, text: str, output: str) -> None:
    farm.submit(text)
    assert printed() == output
