"""Random numbers are those that PyTorch draws; wrong calls are told of in its words."""

import hashlib
import json
import re
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch_module
from tests.data_files import data
from th_shell.torch.tensors.tensor import Tensor

torch: Any = torch_module
DATA = Path(__file__).parents[2] / "data" / "pytorch-random.txt"


def recorded() -> list[tuple[str, Any, str]]:
    """Calls, with what PyTorch drew and the state behind it."""
    lines = [line for line in DATA.read_text().splitlines() if not line.startswith("#")]
    records = zip(lines[::3], lines[1::3], lines[2::3], strict=True)
    return [(call, json.loads(values), state.strip()) for call, values, state in records]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def seen(value: Any) -> Any:
    if isinstance(value, tuple):
        return [seen(one) for one in value]
    return value.tolist() if value.numel() <= 20 else digest(value.array.tobytes())


def drawn(call: str) -> tuple[Any, str]:
    """What a call draws after a seed, and the state behind it."""
    torch.manual_seed(17)
    return seen(eval(call)), digest(torch.get_rng_state().array.tobytes())


def flat(values: Any) -> list[Any]:
    return sum(map(flat, values), []) if isinstance(values, list) else [values]


def test_draws_as_recorded() -> None:
    expected = {call: (values, state) for call, values, state in recorded()}
    answers = {call: drawn(call) for call in expected}
    for call, (values, state) in expected.items():
        assert answers[call][1] == state, call
        if isinstance(values, str):
            assert answers[call][0] == values, call
        else:  # normal floats may have another last digit
            assert flat(answers[call][0]) == pytest.approx(flat(values), rel=2e-6, abs=1e-8), call
    assert expected


@pytest.mark.parametrize(
    "draw",
    [
        lambda count, generator: torch.rand(count, generator=generator),
        lambda count, generator: torch.rand(count, dtype=torch.float64, generator=generator),
        lambda count, generator: torch.empty(count).uniform_(-3, 7, generator=generator),
        lambda count, generator: torch.randn(count, generator=generator),
        lambda count, generator: torch.randint(-3, 9, (count,), generator=generator),
        lambda count, generator: torch.empty(count).exponential_(generator=generator),
    ],
)
def test_few_numbers_are_the_first_of_many(draw: Any) -> None:
    generators = [torch.Generator().manual_seed(6) for _ in range(2)]
    assert draw(1024, generators[0]).tolist() == draw(40000, generators[1]).tolist()[:1024]


@pytest.mark.parametrize("mean", [0.0, 2.0])
def test_many_normal_floats_are_pytorchs_but_for_the_last_digits(mean: float) -> None:
    few = torch.empty(32768).normal_(mean, 3, generator=torch.Generator()).array
    many = torch.empty(65552).normal_(mean, 3, generator=torch.Generator()).array
    np.testing.assert_allclose(many[:32768], few, rtol=0, atol=3e-6)


def test_many_normal_floats_end_with_the_last_16_drawn_anew() -> None:
    generator = torch.Generator()
    numbers = torch.empty(65536 + 5).normal_(generator=generator).array
    again = torch.Generator()
    torch.rand(65536 + 5, generator=again)
    np.testing.assert_allclose(numbers[-16:], torch.randn(16, generator=again).array, atol=1e-6)
    assert (generator.get_state().array == again.get_state().array).all()


# -- generators


@pytest.mark.parametrize("count", [0, 1, 5, 623, 624, 625, 1300])
def test_a_state_is_where_the_stream_goes_on(count: int) -> None:
    generator = torch.Generator().manual_seed(5)
    torch.rand(count, generator=generator)
    torch.randn(1, generator=generator)
    state = generator.get_state()
    other = torch.Generator().set_state(state)
    assert other.initial_seed() == 5
    assert (other.get_state().array == state.array).all()
    for draw in (torch.randn, torch.rand):
        assert draw(700, generator=other).tolist() == draw(700, generator=generator).tolist()


def test_a_state_is_a_copy() -> None:
    generator = torch.Generator()
    state = generator.get_state()
    state.array[:] = 0
    assert generator.get_state().array.any()


@pytest.mark.parametrize(
    ("seed", "kept"),
    [(-1, 2**64 - 1), (-(2**63), 2**63), (2**64 - 1, 2**64 - 1), (True, 1), (1.5, 1)],
)
def test_seeds(seed: Any, kept: int) -> None:
    assert torch.manual_seed(seed) is torch.default_generator
    assert torch.initial_seed() == kept


def test_a_new_generator_has_the_known_seed() -> None:
    generator = torch.Generator(device="cpu")
    assert generator.initial_seed() == 67280421310721
    assert str(generator.device) == "cpu"
    assert re.fullmatch(r"<torch\._C\.Generator object at 0x[0-9a-f]+>", repr(generator))


def test_seeds_that_nobody_foresees_differ() -> None:
    assert torch.seed() != torch.seed()
    assert torch.initial_seed() == torch.default_generator.initial_seed()


def test_threads_share_a_generator_out() -> None:
    generator = torch.Generator().manual_seed(8)
    drawn: list[float] = []

    def draw() -> None:
        for _ in range(50):
            drawn.extend(torch.rand(37, generator=generator).tolist())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = torch.rand(50 * 37 * 4, generator=torch.Generator().manual_seed(8)).tolist()
    assert sorted(drawn) == sorted(alone)


BAD_STATES = [
    (lambda: 3, TypeError, "expected a torch.ByteTensor, but got int"),
    (lambda: torch.zeros(5056), TypeError, "RNG state must be a torch.ByteTensor"),
    (
        lambda: torch.zeros(3, dtype=torch.uint8),
        RuntimeError,
        "Expected a CPUGeneratorImplState of size 5056 but found the input RNG state size to be 3",
    ),
    (lambda: torch.zeros(5056, dtype=torch.uint8), RuntimeError, "Invalid mt19937 state"),
    (
        lambda: torch.zeros(5056, 2, dtype=torch.uint8).select(1, 0),
        RuntimeError,
        "RNG state must be contiguous",
    ),
]


@pytest.mark.parametrize(("state", "error", "message"), BAD_STATES)
def test_bad_states_change_nothing(state: Any, error: type[Exception], message: str) -> None:
    before = torch.get_rng_state().tolist()
    with pytest.raises(error) as caught:
        torch.set_rng_state(state())
    assert str(caught.value) == message
    assert torch.get_rng_state().tolist() == before


# -- calls that are wrong

_OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location. Please clone() the tensor before performing the operation."
)
_BAD_P = (
    "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
    "improved?  If so, please report an enhancement request to PyTorch.)"
)
_LESS = "random_ expects 'from' to be less than 'to', but got "
WRONG = [
    ("x.normal_(0, -1)", "normal expects std >= 0.0, but found std -1"),
    ("torch.normal(0., x - 1)", "normal expects all elements of std >= 0.0"),
    ("x.uniform_(2, 1)", "uniform_ expects to return a [from, to) range, but found from=2 > to=1"),
    (
        "x.uniform_(-3e38, 3e38)",
        "uniform_ expects to-from <= std::numeric_limits<Float>::max(), but found to=3e+38 and "
        "from=-3e+38 which result in to-from to exceed the limit",
    ),
    ("x.exponential_(0)", "exponential_ expects lambda > 0.0, but found lambda=0"),
    ("x.bernoulli_(1.5)", "bernoulli_ expects p to be in [0, 1], but got p=1.5"),
    ("torch.bernoulli(x + 2)", _BAD_P),
    ("x.bernoulli_(torch.rand(2))", "The expanded size of the tensor (3) must match the existing "
     "size (2) at non-singleton dimension 0.  Target sizes: [3].  Tensor sizes: [2]"),
    ("x.random_(3, 3)", _LESS + "from=3 >= to=3"),
    ("torch.randint(-3, (2,))", _LESS + "from=0 >= to=-3"),
    ("torch.randint(0, 300, (2,), dtype=torch.uint8)", "to - 1 is out of bounds for unsigned char"),
    ("torch.empty(2, dtype=torch.int16).random_(2**40)",
     "to - 1 is out of bounds for short int"),
    ("torch.empty(2, dtype=torch.float16).random_(70000)", "to - 1 is out of bounds for c10::Half"),
    ("torch.empty(2, dtype=torch.float16).random_(3000, None)",
     _LESS + "from=3000 >= to=2049"),
    ("torch.randperm(-1)", "Trying to create tensor with negative dimension -1: [-1]"),
    ("torch.randperm(257, dtype=torch.uint8)",
     "value cannot be converted to type uint8_t without overflow"),
    ("torch.rand(2, out=x, dtype=torch.float64)",
     "dtype Double does not match dtype of out parameter (Float)"),
    ("torch.multinomial(x, 1)", "invalid multinomial distribution (sum of probabilities <= 0)"),
    ("torch.multinomial(x - 1, 1)",
     "probability tensor contains either `inf`, `nan` or element < 0"),
    ("torch.multinomial(x, 4)",
     "cannot sample n_sample > prob_dist.size(-1) samples without replacement"),
    ("torch.multinomial(torch.randint(3, (3,)), 1)",
     "multinomial only supports floating-point dtypes for input, got: Long"),
    ("torch.multinomial(torch.rand(3), 2, out=x)",
     "multinomial expects Long tensor out, got: Float"),
    ("torch.zeros(1).expand(3).uniform_()", _OVERLAP),
    ("torch.zeros(1).expand(3).bernoulli_(torch.rand(3))", _OVERLAP),
    ("torch.zeros(2, dtype=torch.int64).exponential_()", "Exponential distribution is a continuous "
     "probability distribution. dtype must be a floating point but you specified Long"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_calls_draw_nothing(call: str, message: str) -> None:
    x = torch.zeros(3)
    torch.manual_seed(2)
    with pytest.raises(RuntimeError) as caught:
        eval(call.replace("torch.rand(2)", "torch.zeros(2)"), {"torch": torch, "x": x})
    assert str(caught.value) == message
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("call", "name", "kind"), data(__file__, "test_types_without_a_distribution")
)
def test_types_without_a_distribution(call: str, name: str, kind: str) -> None:
    with pytest.raises(NotImplementedError) as caught:
        eval(call)
    assert str(caught.value) == f"\"{name}\" not implemented for '{kind}'"


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seeds_too_large(seed: int) -> None:
    with pytest.raises(ValueError) as caught:
        torch.manual_seed(seed)
    assert str(caught.value) == "Overflow when unpacking long long"


@pytest.mark.parametrize(
    ("call", "message"),
    data(__file__, "test_arguments_that_do_not_fit")
)  # fmt: skip
def test_arguments_that_do_not_fit(call: str, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        eval(call)
    assert str(caught.value) == message


# -- where the numbers go


def test_functions_write_to_out_and_resize_it() -> None:
    out = torch.empty(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (
            lambda: torch.rand(2, out=out),
            lambda: torch.randn(3, out=out),
            lambda: torch.randint(3, (4,), out=out),
            lambda: torch.randperm(2, out=out),
            lambda: torch.bernoulli(torch.rand(6), out=out),
            lambda: torch.normal(0, 1, (2, 2), out=out),
        ):
            assert call() is out
    assert out.sizes == (2, 2)


def test_keywords_of_python_are_names_of_parameters_too() -> None:
    drawn: Tensor = torch.empty(50).uniform_(**{"from": 3, "to": 4})
    assert 3 <= drawn.array.min() and drawn.array.max() < 4


@pytest.mark.parametrize(
    ("call", "strides"),
    [
        ("torch.rand_like(torch.zeros(2, 3).t())", (1, 3)),
        ("torch.rand_like(torch.zeros(24).as_strided((2, 3), (12, 2)))", (3, 1)),
        ("torch.rand_like(torch.zeros(3, 1).expand(3, 4))", (4, 1)),
        ("torch.bernoulli(torch.zeros(2, 3).t())", (2, 1)),
        ("torch.normal(torch.zeros(2, 3).t(), 1.)", (2, 1)),
    ],
)
def test_the_order_of_new_tensors(call: str, strides: tuple[int, ...]) -> None:
    assert eval(call).strides == strides


def test_sizes_of_what_is_drawn_from_rows() -> None:
    assert torch.multinomial(torch.rand(2, 3), 2).sizes == (2, 2)
    assert torch.multinomial(torch.rand(0, 3), 2).sizes == (0, 2)


def test_positions_are_drawn_as_often_as_they_are_probable() -> None:
    torch.manual_seed(1)
    weights = torch.rand(4)
    drawn = torch.multinomial(weights, 20000, replacement=True).array
    share = np.bincount(drawn, minlength=4) / 20000
    np.testing.assert_allclose(share, weights.array / weights.array.sum(), atol=0.02)
