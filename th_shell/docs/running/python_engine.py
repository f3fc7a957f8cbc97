"""The engine for pages of Python: speaks the protocol of protocol.py in any Python from 3.8 on.

th-docs runs it as `COMMAND python_engine.py`, where th-docs itself need not be installed: so it
imports the standard library alone. Examples share one namespace, that of `__main__`. An input is
run as at Python's prompt, which shows the value of each expression; a cell as in a notebook, which
shows the value of the last one. Besides the requests of every engine it knows

    cell    run several statements as a notebook does;
    module  begin a namespace with the names of a module and of the prelude.

With the words `--torch-alias MODULE FOLDER`, `import torch` imports this project's torch: the
function `use_face` of the module sets that up, and the package is in the folder. So th-docs starts
the Python that it runs in itself.
"""

from __future__ import annotations  # for versions of Python that know no `str | None`
import __future__

# The module signal looks up the names of numbers at each call, and there are two for each input.
import _signal  # type: ignore[import-not-found]
import ast
import linecache
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec
from io import BytesIO, StringIO
from types import FrameType, ModuleType
from typing import Any, BinaryIO

_REQUESTS, _REPLIES = 3, 4
_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)

#: The most bytes of an output that may have nothing to read.
_NOTHING = 8

_SEED = random.Random.seed

#: numpy keeps so many blocks of each size below so many bytes.
_KEPT_BLOCKS, _KEPT_BYTES = 7, 1024
_kept_arrays: list[Any] = []
#: The beginnings of files' names that tracebacks leave out: this file, and this project's torch.
_hidden_files = [__file__]


class _Engine:
    """Runs inputs in a module `__main__` of their own, by methods named `do_…`."""

    def __init__(self, requests: BinaryIO) -> None:
        self._requests = requests
        self._main = ModuleType("__main__")
        sys.modules["__main__"] = self._main
        self._of_prelude: dict[str, Any] | None = None
        self._inputs = 0
        self._flags = 0  # of the future statements that the page has run
        self._seeder = _Seeder()

    def answer(self, name: str, body: str) -> str:
        """Do what is asked for; return the text of the error, or ''."""
        act = getattr(self, f"do_{name}", None)
        if act is None:
            return ""
        _signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            act(body)
        except BaseException as error:  # SystemExit, too: the page goes on
            return _described(error)
        finally:
            _signal.signal(signal.SIGINT, _signal.SIG_IGN)
        return ""

    def do_begin(self, body: str) -> None:
        numbers = {name: int(number) for name, number in map(str.split, body.splitlines())}
        self.do_seed(str(numbers.get("seed", 1)))
        _put_forward(numbers.get("clock", 0), numbers.get("step", 0))

    def do_seed(self, number: str) -> None:
        self._seeder.number = int(number)
        _fix_entropy(self._seeder.number)
        random.seed(self._seeder.number)
        for name in self._seeder.SEEDS:
            if name in sys.modules:
                self._seeder.seed(name, sys.modules[name])
        if self._seeder not in sys.meta_path:
            sys.meta_path.insert(0, self._seeder)

    def do_run(self, source: str) -> None:
        shows = sys.displayhook
        try:
            self._evaluated(self._syntax_tree(source, "<prelude>"), "<prelude>", "exec")
        finally:
            sys.displayhook = shows  # doctest, too, runs a setup by itself

    def do_input(self, source: str) -> None:
        name, tree = self._parsed(source)
        self._evaluated(ast.Interactive(tree.body), name, "single")

    def do_cell(self, source: str) -> Any:
        name, tree = self._parsed(source)
        last = tree.body[-1:]
        if not last or not isinstance(last[0], ast.Expr) or _is_quiet(source, last[0]):
            return self._evaluated(tree, name, "exec")
        if len(tree.body) > 1:
            self._evaluated(ast.Module(tree.body[:-1], type_ignores=[]), name, "exec")
        value = self._evaluated(ast.Expression(last[0].value), name, "eval")
        _flush()
        _reply("values", "")
        _message(self._requests)  # 'go'
        sys.displayhook(value)

    def do_module(self, place: str) -> None:
        folder, name = place.split("\n")
        names = self._main.__dict__
        if self._of_prelude is None:
            self._of_prelude = {key: names[key] for key in names if not key.startswith("__")}
        if folder not in sys.path:
            sys.path.insert(0, folder)
        names.clear()
        names.update({**import_module(name).__dict__, **self._of_prelude})

    def _parsed(self, source: str) -> tuple[str, ast.Module]:
        """Return the name and the syntax tree of an input, whose lines tracebacks can show."""
        self._inputs += 1
        name = f"<input {self._inputs}>"
        # Tracebacks and inspect.getsource() find the lines of inputs here.
        linecache.cache[name] = (len(source), None, list(StringIO(source + "\n", None)), name)
        return name, self._syntax_tree(source, name)

    def _syntax_tree(self, source: str, name: str) -> Any:
        return compile(source, name, "exec", self._flags | ast.PyCF_ONLY_AST, True)

    def _evaluated(self, tree: Any, name: str, mode: str) -> Any:
        """Run a syntax tree, by the future statements so far; return its value."""
        code = compile(tree, name, mode, self._flags, True)
        self._flags |= code.co_flags & _FUTURES
        return eval(code, self._main.__dict__)


def _is_quiet(source: str, last: ast.Expr) -> bool:
    """Tell whether `;` ends a cell, so that a notebook does not show its value."""
    line = list(StringIO(source, None))[(last.end_lineno or 1) - 1].encode()
    return line[last.end_col_offset :].lstrip().startswith(b";")


class _Seeder:
    """Finds the modules that have random numbers of their own, and seeds them once imported."""

    SEEDS: dict[str, Callable[[Any, int], object]] = {
        "numpy": lambda module, seed: module.random.seed(seed % 2**32),
        "torch": lambda module, seed: module.manual_seed(seed),
        "th_shell.torch": lambda module, seed: module.manual_seed(seed),
    }

    number = 1

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        """Return how to import a module that is to be seeded; None for others."""
        spec = self._found(name, path, target) if name in self.SEEDS else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_seed(module: ModuleType) -> None:
            load(module)
            self.seed(name, module)
            _use_up_kept_memory()

        spec.loader.exec_module = load_and_seed  # type: ignore[method-assign]
        return spec

    def seed(self, name: str, module: Any) -> None:
        """Seed a module. A module of such a name without a generator is left as it is."""
        with suppress(Exception):
            self.SEEDS[name](module, self.number)

    def _found(self, name: str, path: Sequence[str] | None, target: Any) -> ModuleSpec | None:
        """Return the spec that the other finders have for a module."""
        finders = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(name, path, target) for finder in finders)
        return next(filter(None, specs), None)


def _use_up_kept_memory() -> None:
    """Take the freed memory that numpy has kept, so that its next arrays have new memory.

    New memory is filled with another byte in each run; used memory has the same contents in all.
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        sizes = [size for size in range(1, _KEPT_BYTES) for _ in range(_KEPT_BLOCKS)]
        _kept_arrays.extend(numpy.empty(size, numpy.uint8) for size in sizes)


def _fix_entropy(number: int) -> None:
    """Derive from one number all that is random by process, as the seeds of new generators."""
    stream, seed = random.Random(number), _SEED

    def urandom(size: int) -> bytes:
        return bytes(stream.getrandbits(8) for _ in range(size))

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        seed(self, stream.getrandbits(64) if a is None else a, version)

    os.urandom = random._urandom = urandom  # type: ignore[attr-defined]
    random.Random.seed = seeded  # type: ignore[method-assign]
    random.seed = random._inst.seed


class _Ahead:
    """The seconds by which clocks are ahead: some at first, and a step more at each look of a page.

    A look is a call by code that stands in no file, as the page's own and timeit's does. Libraries
    wait until a time: for them, clocks go as ever.
    """

    def __init__(self, seconds: int, step: int) -> None:
        self.seconds = self._passed = seconds
        self._step = step

    def of_clock(self) -> int:
        """Return the seconds for a clock that is looked at."""
        return self.of_date() if self._is_page() else self.seconds

    def of_date(self) -> int:
        """Return the seconds for a date: a library sees the one that the page has seen last."""
        self._passed += self._step if self._is_page() else 0
        return self._passed

    @staticmethod
    def _is_page() -> bool:
        frame: FrameType | None = sys._getframe(1)
        while frame and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        return frame is not None and frame.f_code.co_filename.startswith("<")


def _put_forward(seconds: int, step: int) -> None:
    """Put the clocks of time and datetime forward, and let them go on by a step at each look."""
    if not seconds:
        return
    ahead = _Ahead(seconds, step)
    now = time.time
    for name in ("time", "perf_counter", "process_time", "thread_time", "monotonic"):
        in_ns = f"{name}_ns"
        setattr(time, name, _forward(getattr(time, name), ahead))
        setattr(time, in_ns, _forward(getattr(time, in_ns), ahead, 10**9))
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _later(getattr(time, name)))
    strftime, localtime = time.strftime, time.localtime
    time.strftime = lambda text, at=None: strftime(text, localtime() if at is None else at)
    if sys.implementation.name == "cpython":
        _put_datetime_forward(lambda: now() + ahead.of_date())


def _put_datetime_forward(now: Callable[[], float]) -> None:
    """Let datetime's now and utcnow look at a changed clock, as its date.today does by itself.

    The classes stay the same ones, so that their instances do, too: their tables of methods, which
    Python gives for reading only, are reached through the garbage collector.
    """
    import ctypes
    import datetime
    import gc

    moment: Any = datetime.datetime
    utc = datetime.timezone.utc
    methods: Any = gc.get_referents(moment.__dict__)[0]
    methods["now"] = classmethod(lambda cls, tz=None: cls.fromtimestamp(now(), tz))
    methods["utcnow"] = classmethod(lambda cls: cls.fromtimestamp(now(), utc).replace(tzinfo=None))
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(moment))


def _forward(clock: Callable[[], Any], ahead: _Ahead, unit: int = 1) -> Callable[[], Any]:
    """Return a clock that is ahead of another one."""

    def later() -> Any:
        now = clock()
        return now + type(now)(unit * ahead.of_clock())

    return later


def _later(convert: Callable[[float], Any]) -> Callable[..., Any]:
    """Return a function of time that takes the changed clock by default."""
    return lambda seconds=None: convert(time.time() if seconds is None else seconds)


def _described(error: BaseException) -> str:
    """Return the text that Python prints for an error, without lines of our own files."""
    if isinstance(error, KeyboardInterrupt):
        return "KeyboardInterrupt"
    try:
        described = traceback.TracebackException(type(error), error, error.__traceback__)
        hidden = tuple(_hidden_files)
        shown = [frame for frame in described.stack if not frame.filename.startswith(hidden)]
        described.stack = traceback.StackSummary.from_list(shown)
        return "".join(described.format()).rstrip("\n")
    except Exception:  # by the error's own methods
        return type(error).__name__


# -- the protocol


def _message(requests: BinaryIO) -> tuple[str, str] | None:
    """Read a request; return its name and its body, None where there are no more."""
    line = requests.readline()
    name, _, size = line.decode().strip().partition(" ")
    if not size:
        return (name, "") if name else None
    body = requests.read(int(size) + 1)
    return (name, body[:-1].decode("utf-8", "surrogateescape")) if len(body) > int(size) else None


def _single_requests(name: str, body: str) -> Iterator[tuple[str, str]]:
    """Yield a request, or those that it consists of."""
    if name != "several":
        yield name, body
        return
    requests = BytesIO(body.encode("utf-8", "surrogateescape"))
    while one := _message(requests):
        yield one


def _reply(name: str, body: str) -> None:
    """Write a reply."""
    text = body.encode("utf-8", "backslashreplace")
    data = b"%s %d\n%s\n" % (name.encode(), len(text), text)
    while data:
        data = data[os.write(_REPLIES, data) :]


def _is_nothing(output: int, start: int, end: int) -> bool:
    """Tell whether a part of the output has nothing to read."""
    return end - start <= _NOTHING and not os.pread(output, max(end - start, 0), start).strip()


def _flush() -> None:
    """Write the buffers of the output."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with suppress(Exception):  # the page has closed it, or put something else there
            stream.flush()  # type: ignore[union-attr]


def _use_torch_alias(module: str, folder: str) -> None:
    """Let `import torch` be this project's torch. module: sets that up; folder: has its package."""
    sys.path.append(folder)
    import_module(module).use_face()
    _hidden_files.append(os.path.join(*import_module("th_shell").__path__, ""))


def main() -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python has it ignored: see system.limit_files
    folder = os.path.dirname(os.path.abspath(__file__))
    # The modules beside this file are none of the page's; what is in its own folder may be.
    sys.path[:] = ["", *(path for path in sys.path if path != folder)]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(  # type: ignore[union-attr]
            encoding="utf-8", errors="surrogateescape", line_buffering=True
        )
    for descriptor in (_REQUESTS, _REPLIES):
        os.set_inheritable(descriptor, False)
    if sys.argv[1:2] == ["--torch-alias"]:
        _use_torch_alias(*sys.argv[2:4])
        del sys.argv[1:4]
    requests = open(_REQUESTS, "rb", closefd=False)
    engine = _Engine(requests)
    process, output = os.getpid(), os.dup(1)
    printed = 0
    while request := _message(requests):
        for name, body in _single_requests(*request):
            error = engine.answer("input" if name == "shown" else name, body)
            _flush()
            if os.getpid() != process:  # a copy of this process, which the page has made
                os._exit(0)
            before, printed = printed, os.fstat(output).st_size
            silent = name == "shown" and _is_nothing(output, before, printed)
            _reply("error" if error else "silent" if silent else "done", error or str(printed))
            if error or silent:
                break


if __name__ == "__main__":
    main()
