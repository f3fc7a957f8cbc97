"""Facts on packages that programs for Torch7 use, and on words that mean something else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files

from th_shell.preflight.finding import Lack
from th_shell.preflight.syntax_tree import Kinds
from th_shell.runtime.shell import Engine
from th_shell.toml import loads

GPU = Lack(
    "th computes on the processor alone", "use :float(), or th --gpu-as-cpu for the whole program"
)
_GPU_PACKAGES = Lack(
    "it computes on a GPU, and th on the processor alone", "leave it out, or use th --gpu-as-cpu"
)
#: Packages of Torch7 that cannot do here what they are for, besides those that cannot be here.
_PACKAGES: Mapping[str, Lack] = {**dict.fromkeys("cunn cutorch cudnn".split(), _GPU_PACKAGES)}
_PENLIGHT = Lack("a module of Penlight, which Torch7's th had loaded", "th --install penlight")
_GPU_NAMES = frozenset("cunn cutorch cudnn cltorch clnn nccl".split())
OTHER = Lack("no such module is found", "install it where package.path (LUA_PATH) finds it")
C_LIBRARY = Lack(
    "a C library that is not here", "build it for LuaJIT 2.1, on package.cpath (LUA_CPATH)"
)
BESIDE = Lack("there is no such file beside this one", "correct the path")

GPU_METHODS = frozenset(
    "cl cuda cudaByte cudaChar cudaShort cudaInt cudaLong cudaHalf cudaDouble".split()
)

#: Global tables whose fields are known before a program runs.
LIBRARIES = "torch paths sys xlua string table math os io coroutine debug bit package jit".split()

#: Globals of programs that others have started: those of another host than th have more.
HOSTS = frozenset("love ngx vim redis wx awesome minetest lgi premake".split())

#: Globals that are there where a script, a worker or a test runs.
_GIVEN = frozenset(
    "arg __threadid __threadname describe it pending before_each after_each setup teardown "
    "lazy_setup lazy_teardown insulate expose finally spy stub mock context".split()
)

#: Methods in Lua, which look at no argument.
_LOOSE = frozenset(["numel"])

#: Classes of torch whose methods programs call, besides tensors.
_CLASSES = "Storage Timer CmdLine DiskFile MemoryFile PipeFile Tester TestSuite Generator".split()

#: Functions of torch whose first result is a tensor.
MAKERS = frozenset(
    "Tensor ByteTensor CharTensor ShortTensor IntTensor LongTensor FloatTensor DoubleTensor "
    "rand randn zeros ones eye range linspace logspace randperm".split()
)

_OF_FILES = frozenset("close flush lines read seek setvbuf write".split())

#: Methods of a tensor whose first result is a tensor.
KEPT_BY = frozenset(
    "t clone contiguous fill zero resize view transpose double float long int byte uniform normal "
    "add mul div cmul cdiv abs exp log sqrt copy narrow expand".split()
)


#: A call form, and whether calls may have more arguments than it.
Form = tuple[str, bool]


@dataclass(frozen=True)
class Facts:
    """The names that there are before a program runs."""

    #: The names in the global tables of `LIBRARIES`.
    fields: Mapping[str, frozenset[str]]
    #: The methods of tensors, of any type.
    methods: frozenset[str]
    packages: Mapping[str, Lack]
    #: The modules of Penlight, which are globals once it is loaded.
    of_penlight: frozenset[str]
    #: Finds modules.
    engine: Engine
    #: All global names.
    globals: frozenset[str] = frozenset()
    #: The operations of torch in the table of operations, by how they are called: 'function' and
    #: 'method'.
    operations: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: The packages of Lua files whose fields are known.
    listed: frozenset[str] = frozenset()
    #: The methods of the classes of these packages.
    package_methods: frozenset[str] = frozenset()
    #: These methods and torch's.
    all_methods: frozenset[str] = frozenset()
    #: The methods that no other objects have.
    only_of_tensors: frozenset[str] = frozenset()
    #: The least and the largest number of arguments of constructors, by the classes' names.
    arguments: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def forms(self, name: str, space: str) -> list[Form]:
        """Return the call forms of an operation, as a 'method' or a 'function'."""
        from th_shell.runtime.shell import ALL, TABLE

        if name not in self.operations.get(space, ()):
            return []
        rows = [row for row in TABLE.get(name, []) if any(dtype in ALL for dtype in row.types)]
        forms = [(row.form(space), row.reads_call or name in _LOOSE) for row in rows]
        return [(form, is_loose) for form, is_loose in forms if form is not None]

    @cached_property
    def kinds(self) -> Kinds:
        """The operations that certainly give a tensor: all their forms begin with a destination."""
        makers = {
            space: {
                name
                for name in names
                if all(form.startswith(("*T*", "[*T*]")) for form, _ in self.forms(name, space))
            }
            for space, names in self.operations.items()
        }
        return Kinds(MAKERS | makers["function"], KEPT_BY | makers["method"])


def facts_of(engine: Engine) -> Facts:
    """Return the facts on a new engine."""
    types = [name for name in engine.variables.names("torch") if name.endswith("Tensor")]
    methods = [engine.variables.names(f"torch.{name}") for name in types]
    text = (files("th_shell.preflight") / "members.toml").read_text("utf-8")
    texts = loads(text)
    counts = [word.split(":") for word in texts.pop("constructors").split()]
    listed = {name: frozenset(names.split()) for name, names in texts.items()}
    of_packages = listed.pop("methods")
    fields = {name: frozenset(engine.variables.names(name)) for name in LIBRARIES}
    # The error about a tensor without a GPU is no method that programs may use.
    of_tensors = frozenset().union(*methods) - GPU_METHODS
    of_classes = [engine.variables.names(f"torch.{name}") for name in _CLASSES]
    operations = {
        space: frozenset(
            member.name for member in engine.variables.members(path).members if member.is_operation
        )
        for space, path in (("function", [".torch"]), ("method", [".torch", ".DoubleTensor"]))
    }
    distinct, common = engine.penlight_names()
    has_penlight = engine.find_module("pl.import_into") is not None
    lacks = {} if has_penlight else dict.fromkeys(distinct, _PENLIGHT)
    at_start = distinct | common if has_penlight else frozenset[str]()
    return Facts(
        fields={**fields, **listed},
        methods=of_tensors,
        packages={**_PACKAGES, **_impossible(engine), **_installable(engine), **lacks},
        of_penlight=distinct | common,
        engine=engine,
        globals=frozenset(engine.variables.names("")) | _GIVEN | at_start,
        operations=operations,
        listed=frozenset(listed) | _GPU_NAMES,
        package_methods=of_packages,
        only_of_tensors=operations["method"].difference(
            of_packages, fields["string"], _OF_FILES, *of_classes
        ),
        arguments={f"nn.{name}": (int(least), int(most)) for name, least, most in counts},
        all_methods=of_tensors.union(of_packages, fields["string"], _OF_FILES, *of_classes),
    )


def _impossible(engine: Engine) -> Mapping[str, Lack]:
    packages = engine.impossible_packages()
    return {name: Lack(f"it {why}", advice) for name, (why, advice) in packages.items()}


def _installable(engine: Engine) -> Mapping[str, Lack]:
    why = "a package of Lua files that is not installed"
    return {name: Lack(why, f"th --install {name}") for name in engine.package_sources()}
