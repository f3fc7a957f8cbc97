"""The table of operations: call forms, and the functions that implement them.

A row is added by a decorator on its implementation in ``ops/``. `@op` is for operations whose
call the reference matches with its forms, which it prints in the error if none fits; `@checked`
is for those whose arguments the reference checks one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from th_shell.runtime.core.dtypes import DTYPES, REALS, DType

ALL = REALS
EVERY = DTYPES  # ALL, and Half
FLOATS = tuple(dtype for dtype in REALS if dtype.is_float)

F = TypeVar("F", bound=Callable[..., Any])


class Row(NamedTuple):
    """One call form of one operation.

    method, function: the form (see calls/forms.py) as x:name(...) and as torch.name(...); None
    where there is none.
    types: the element types that have this form.
    reads_call: the implementation gets a `Call` and reads its arguments itself (`@checked`);
    otherwise it gets the form's arguments.
    fresh: what is called instead of the implementation where the call leaves the destination out.

    A row may have one Lua formula, from which compute/formulas.py writes Lua functions for calls
    on FloatTensors and DoubleTensors. Its names are those of the implementation's parameters; with
    `reads_call`, a, b and c are the call's arguments. What a formula may contain is told in
    compute/formula_steps.py.
    each: one element of the result, from the elements of the tensors at the same place; or several
    such formulas, `a if condition else b`, with a condition on numbers, and None at the end where
    there is none for the other numbers.
    kinds: with `reads_call`, the kinds of the arguments that `each` is for, such as 'TT TN': two
    tensors, or a tensor and a number; the result is a new tensor.
    axpy: whether BLAS's axpy may compute `each`, which is `t + factor * src` or `t - factor * src`,
    where the result takes the place of t.
    total: the result is the sum of this expression, of all elements or along a dimension.
    fold: what adds it up, by numpy's name: 'add', or another function of two numbers such as
    'multiply' or 'maximum'.
    then: what is computed of each `total` in the end, from these and their number of elements `n`;
    `cast(x)` converts to the element type. None: the total itself.
    running: the results are the sums of the elements up to each place.
    in_double: whether sums are computed in double precision however the elements lie.
    holds: whether the result is whether the total is not 0.
    places: whether there are two results along a dimension, extrema and their indices.

    parameters: the names in formulas where they are not those of the implementation's parameters.
    small: 'module.function', the function of a module's Lua half that computes calls on few
    elements (told in calls/plans.py); None where all calls are Python's.
    """

    name: str
    method: str | None
    function: str | None
    types: tuple[DType, ...]
    implementation: Callable[..., Any]
    reads_call: bool = False
    fresh: Callable[..., Any] | None = None
    each: str | None = None
    axpy: bool = False
    total: str | None = None
    kinds: str | None = None
    fold: str = "add"
    then: str | None = None
    running: bool = False
    in_double: bool = True
    holds: bool = False
    places: bool = False
    parameters: tuple[str, ...] = ()
    small: str | None = None

    @property
    def has_formula(self) -> bool:
        """Tell whether Lua may run calls of this form on few elements by itself."""
        return bool(self.each or self.total)

    def form(self, space: str) -> str | None:
        """The form for calls as a 'method' or as a 'function'; None where there is none."""
        return self.method if space == "method" else self.function


#: The rows of each operation by its name, in the order in which a call tries them.
TABLE: dict[str, list[Row]] = {}


def op(
    name: str,
    method: str | None = None,
    function: str | None = None,
    types: Iterable[DType] = ALL,
    **more: Any,
) -> Callable[[F], F]:
    """Add a row whose form is matched with each call; the implementation gets its arguments.

    more: further fields of the `Row`.
    """

    def register(implementation: F) -> F:
        row = Row(name, method, function, tuple(types), implementation, **more)
        TABLE.setdefault(name, []).append(row)
        return implementation

    return register


def with_destination(form: str) -> tuple[str, str]:
    """Return the forms of a method and of a function, which may be called without the destination.

    form: the method's, which begins with it.
    """
    destination, arguments = form.split(" ", 1)
    return form, f"[{destination}] {arguments}"


def checked(
    name: str,
    method: str | None = None,
    function: str | None = None,
    types: Iterable[DType] = EVERY,
    **more: Any,
) -> Callable[[F], F]:
    """Add a row whose implementation reads its arguments from a `Call` one by one."""
    return op(name, method, function, types, reads_call=True, **more)
