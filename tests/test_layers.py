"""The layers: who uses whom is as the README.md of each folder says, word for word."""

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.data_files import data
from tests.lua_modules import MODULES, loaded_by
from th_shell import runtime
from th_shell.runtime import export, shell

TOP = Path(__file__).parent.parent
RUNTIME = TOP / "runtime"
SHELL = TOP / "th_shell"

Uses = dict[str, dict[str, str]]  # layer -> layer that it uses -> where


def rules(folder: Path, heading: str) -> dict[str, set[str]]:
    """The rules below a heading of a folder's page: layer -> the layers that it uses."""
    page = (folder / "README.md").read_text()
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    block = section.partition("```\n")[2].partition("```")[0]
    lines = [line.split() for line in block.splitlines()]
    return {layer: set(used) for layer, arrow, *used in lines}


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All that a Python file consists of."""
    return list(ast.walk(ast.parse(path.read_text())))


@cache
def imports(path: Path) -> list[str]:
    """The modules that a Python file imports, wherever in it."""
    return list(imports_of(nodes_of(path)))


def imports_of(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The modules that parts of Python import."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def users() -> dict[str, set[str]]:
    """The rooms of the shell, and the first names of all that each imports."""
    found: dict[str, set[str]] = {}
    for path in SHELL.rglob("*.py"):
        room = found.setdefault(path.relative_to(SHELL).parts[0], set())
        room.update(module.partition(".")[0] for module in imports(path))
    return found


def python_uses() -> Uses:
    layers = {path.parent.name for path in RUNTIME.glob("*/__init__.py")}
    uses: Uses = {}
    for path in RUNTIME.rglob("*.py"):
        layer = path.relative_to(RUNTIME).parts[0]
        for module in imports(path):
            used = layer_of(module)
            if used in layers:
                name = layer if layer in layers else "runtime"
                uses.setdefault(name, {})[used] = f"{path.name}: {module}"
    return uses


def layer_of(module: str) -> str:
    """Return the folder of the runtime in which a module is; "" for those of others."""
    if f"{module}.".startswith("th_shell.torch."):
        return "pytorch"
    return module.partition("th_shell.runtime.")[2].partition(".")[0]


def pytorch_uses() -> Uses:
    """The rooms of runtime/pytorch; the modules at its top are the room torch."""
    top = RUNTIME / "pytorch"
    rooms = {path.parent.name for path in top.glob("*/__init__.py")}
    uses: Uses = {}
    for path in top.rglob("*.py"):
        first = path.relative_to(top).parts[0]
        room = first if first in rooms else "torch"
        for module in imports(path):
            used = module.partition("th_shell.torch.")[2].partition(".")[0]
            if used:
                name = used if used in rooms else "torch"
                uses.setdefault(room, {})[name] = f"{path.name}: {module}"
    uses.get("torch", {}).pop("torch", None)
    return uses


def shell_uses() -> Uses:
    uses: Uses = {}
    for path in SHELL.rglob("*.py"):
        room = _shell_room(path.relative_to(SHELL).parts[0])
        for module in imports(path):
            package, _, inside = module.partition(".")
            first = inside.partition(".")[0]
            if package == "th_shell" and first not in ("", "__version__", "runtime", "torch"):
                used = _shell_room(first)
                uses.setdefault(room, {})[used] = f"{path.name}: {module}"
    return uses


def _shell_room(name: str) -> str:
    """The room of a folder, or of a module at the top."""
    if (SHELL / name / "__init__.py").exists():
        return name
    return "th" if name.removesuffix(".py") in ("__main__", "cli", "options") else "shared"


def lua_uses() -> Uses:
    """A room uses those whose modules its own import, at their tops or where they need them."""
    uses: Uses = {}
    for module in MODULES:
        for used in loaded_by(module):
            uses.setdefault(_room(module), {})[_room(used)] = f"{module}: {used}"
    return uses


def _code(text: str) -> str:
    return re.sub(r"--\[\[.*?\]\]|--[^\n]*", "", text, flags=re.DOTALL)


def _room(module: str) -> str:
    """Return the room of a module of Lua, which is the first part of its name."""
    return module.partition(".")[0]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("folder", "heading", "find"),
    [
        (RUNTIME, "Layers of Python", python_uses),
        (RUNTIME / "pytorch", "Rooms", pytorch_uses),
        (RUNTIME / "lua", "Rooms", lua_uses),
        (SHELL, "Rooms", shell_uses),
    ],
)
def test_layers_use_what_the_page_says(
    folder: Path, heading: str, find: Callable[[], Uses]
) -> None:
    uses = find()
    allowed = rules(folder, heading)
    beyond = {
        f"{layer} -> {used}": where
        for layer, found in uses.items()
        for used, where in found.items()
        if used not in allowed.get(layer, set())
    }
    assert beyond == {}
    assert {layer: set(found) for layer, found in uses.items() if found} == allowed


def test_one_module_has_lupa() -> None:
    files = [p for top in ("runtime", "th_shell") for p in (TOP / top).rglob("*.py")]
    naming = [p for p in files if "lupa" in p.read_text()]
    found = {p.name for p in naming for module in imports(p) if module.startswith("lupa")}
    assert found == {"luajit.py"}


@pytest.mark.parametrize(
    ("library", "where"),
    [
        ("prompt_toolkit", {"terminal"}),
        ("ipykernel", {"jupyter"}),
        ("pygls", {"editor"}),
        ("lsprotocol", {"editor"}),
        ("pytest", {"docs"}),
        ("argparse", {"docs"}),
        ("markdown_it", {"docs"}),
        ("docutils", {"docs"}),
        ("sphinx", {"docs"}),
        ("mkdocs", {"docs"}),
        ("tree_sitter", {"preflight"}),
    ],
)
def test_one_room_has_a_library(library: str, where: set[str]) -> None:
    assert {room for room, libraries in users().items() if library in libraries} == where


def test_no_room_uses_one_that_uses_it() -> None:
    known: set[str] = set()
    for room, used in rules(SHELL, "Rooms").items():
        known.add(room)
        assert used <= known, room


def test_core_has_no_other_library_than_numpy() -> None:
    known = {"numpy", "th_shell", *sys.stdlib_module_names}
    for path in (RUNTIME / "core").rglob("*.py"):
        assert {module.partition(".")[0] for module in imports(path)} <= known, path


def test_the_shell_comes_by_the_door() -> None:
    offered = {
        *("th_shell.runtime", "th_shell.runtime.*", "th_shell.torch"),
        *(f"th_shell.runtime.{name}" for name in runtime.__all__),
    }
    offered |= {
        "th_shell.runtime.shell",
        *(f"th_shell.runtime.shell.{name}" for name in (*vars(shell), *shell._WITH_OPERATIONS)),
    }
    offered |= {
        "th_shell.runtime.export",
        *(f"th_shell.runtime.export.{name}" for name in export.__all__),
    }
    for path in (TOP / "th_shell").rglob("*.py"):
        used = {m for m in imports(path) if re.match(r"th_shell\.(runtime|torch)\b", m)}
        assert used <= offered, path


def test_other_rooms_use_pages_by_one_module() -> None:
    files = [path for path in SHELL.rglob("*.py") if path.relative_to(SHELL).parts[0] != "docs"]
    used = {
        (path.name, m) for path in files for m in imports(path) if m.startswith("th_shell.docs")
    }
    door = "th_shell.docs.library"
    assert {one for one in used if one[1] != door and not one[1].startswith(f"{door}.")} == set()


def test_operations_know_no_lua() -> None:
    for path in (RUNTIME / "ops").rglob("*.py"):
        assert not re.search(r"lua_kernels\._|\.eval\(|loadstring|\bth\.", path.read_text()), path


# ------------------------------------------------- where memory of raw pointers comes from

#: Arrays of FFI and of ctypes of so many elements may stand anywhere, where the number is written.
_FEW = 256

_LUA_MEMORY = re.compile(
    r"\w*\[[?$]\]|(?:new|typeof)\([^\n)]*(?:\[' *\.\.|\[\d+\])"
    r"|\b\w*?(?:[mc]|re|mem)al(?:loc|ign)\b|\b\w*mmap\b"
)

#: What makes memory in Lua, besides the file that is asked for it.
_ASKED = {RUNTIME / "lua" / "parallel" / "memory.lua"}
_LUA_MAKES = {
    "runtime/lua/core/memory_reserve.lua": {"mmap", "th_mmap"},  # is never written
    "runtime/lua/core/c_structs.lua": {
        "data[?]"
    },  # of blocks and stores: parallel/memory.lua makes these
    # One struct of a fixed size, which is freed when the last of several Lua states has ended.
    "runtime/lua/parallel/thread_pool.lua": {"parameters[$]", "first[$]", "last[$]", "th_calloc"},
}

#: What makes memory in Python that is neither numpy's nor that of one number.
_PYTHON_MAKES = {
    "runtime/compute/blas_threads.py": {"mmap.mmap"},  # is never written: asks for room
    "runtime/compute/libm.py": {  # two texts that numpy keeps, and the few loops of a function
        *("ctypes.create_string_buffer", "pointer * len(loops)"),
    },
    "runtime/compute/self_check.py": {  # what a loop of numpy's is called with, a few of each
        *("_POINTER * len(arrays)", "_SIZE * len(sizes)", "_SIZE * len(steps)"),
    },
    "runtime/core/mapping.py": {"mmap.mmap"},  # the program's files
    "runtime/core/memory.py": {"ctypes.create_string_buffer"},  # C structs of one size
    "th_shell/docs/running/seccomp.py": {"ctypes.create_string_buffer"},  # a text of its length
}


def lua_memory(text: str) -> set[str]:
    """What makes memory in a Lua text: arrays but small ones of a fixed length, functions of C."""
    found = {match.group() for match in _LUA_MEMORY.finditer(_code(text))}
    return {what for what in found if not re.search(r"\d\]$", what) or _longest(what) > _FEW}


def _longest(arrays: str) -> int:
    return max(int(length) for length in re.findall(r"\[(\d+)\]", arrays))


def python_memory(nodes: list[ast.AST]) -> set[str]:
    """What makes memory in parts of Python: buffers and arrays of ctypes, mappings."""
    at_address = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr.startswith("from_")
    }
    made = [_made(node) for node in nodes if id(node) not in at_address]
    return {name for name, length in made if name and not _is_few(length)}


def _made(node: ast.AST) -> tuple[str, ast.expr | None]:
    """What makes memory, and its length; '' where a node does not."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.BinOp):
        return ast.unparse(node.func), node.func.right
    if isinstance(node, ast.Call):
        last = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
        if not re.fullmatch(r"create_\w+_buffer|[mc]alloc|mmap", last):
            return "", None
        return ast.unparse(node.func), node.args[0] if node.args else None
    is_product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    if is_product and re.match(r"(ctypes\.)?c_\w+ \* ", ast.unparse(node)):
        return ast.unparse(node), node.right
    return "", None


def _is_few(length: ast.expr | None) -> bool:
    value = length.value if isinstance(length, ast.Constant) else None
    return isinstance(value, int) and value <= _FEW


@pytest.mark.thorough
def test_memory_of_lua_comes_from_one_module() -> None:
    files = [*RUNTIME.rglob("*.lua"), *SHELL.rglob("*.lua")]
    texts = {str(p.relative_to(TOP)): p.read_text() for p in files if p not in _ASKED}
    made = {path: lua_memory(text) for path, text in texts.items()}
    assert {path: what for path, what in made.items() if what} == _LUA_MAKES


@pytest.mark.thorough
def test_memory_of_python_is_that_of_numpy() -> None:
    files = [*RUNTIME.rglob("*.py"), *SHELL.rglob("*.py")]
    made = {str(p.relative_to(TOP)): python_memory(nodes_of(p)) for p in files}
    assert {path: what for path, what in made.items() if what} == _PYTHON_MAKES


@pytest.mark.parametrize("code", data(__file__, "test_memory_of_lua_is_noticed"))
def test_memory_of_lua_is_noticed(code: str) -> None:
    assert lua_memory(code)
    assert not lua_memory("local cells = ffi.new('int32_t[256]') print('[' .. n .. ']')")


@pytest.mark.parametrize("code", data(__file__, "test_memory_of_python_is_noticed"))
def test_memory_of_python_is_noticed(code: str) -> None:
    assert python_memory(list(ast.walk(ast.parse(code))))
    fine = "(c_double * n).from_address(at), (c_double * 256)()"
    assert not python_memory(list(ast.walk(ast.parse(fine))))
