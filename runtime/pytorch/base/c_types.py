"""Classes that stand for ones that PyTorch has in C, such as torch.Size; and missing names.

Python's errors call such a class by its whole name ('torch.Size'), which is the name that type()
gets for it here. Programs can neither derive from these classes nor set attributes of their
objects. A class says `__module__ = "torch"`, since its name is printed so; as no module of that
name needs to exist, it tells pickle of a function that makes the object again.
"""

from __future__ import annotations

from types import MemberDescriptorType
from typing import Any

_HEAP_TYPE = 1 << 9  # CPython's flag of the classes that Python code has made
_full_name = type.__dict__["__name__"].__get__


def type_name(value: object) -> str:
    """Return the name of a value's class, as errors have it: of classes in C the whole one.

    Of Python's own classes it is the last part alone.
    """
    cls = type(value)
    short = cls.__flags__ & _HEAP_TYPE or cls.__module__ == "builtins"
    name: str = _full_name(cls)
    return name if short else f"{cls.__module__}.{name}"


class Named(type):
    """The class of classes that pickle finds by what they tell: see `names.py`."""


class CMeta(Named):
    """Names classes as C does: errors have the whole name, `__name__` is its last part.

    A class that has PyTorch's name is finished: it cannot be derived from.
    """

    def __new__(
        mcs, name: str, bases: tuple[type, ...], members: dict[str, Any], **options: Any
    ) -> CMeta:
        for base in bases:
            if base.__module__.partition(".")[0] == "torch":
                raise TypeError(f"type '{_full_name(base)}' is not an acceptable base type")
        members.setdefault("__qualname__", name)
        return super().__new__(mcs, f"{members['__module__']}.{name}", bases, members, **options)

    @property
    def __name__(cls) -> str:  # type: ignore[override]  # which could be set
        return cls.__qualname__


class CType(metaclass=CMeta):
    """Base of the classes. Fields, which are slots or a tuple's properties, cannot be set."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse, in the words for this kind of attribute."""
        self._refuse(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        """Refuse, in the words for this kind of attribute."""
        self._refuse(name)
        object.__delattr__(self, name)

    def _refuse(self, name: str) -> None:
        """Raise AttributeError for fields; Python itself does so for names that are none."""
        member = getattr(type(self), name, None)
        if isinstance(member, property):
            raise AttributeError("readonly attribute")
        if isinstance(member, MemberDescriptorType):
            text = f"attribute '{name}' of '{type_name(self)}' objects is not writable"
            raise AttributeError(text)


_AUTOGRAD = "autograd is not provided here"
_COMPLEX = "complex numbers are not provided here"
_SPARSE = "sparse tensors are not provided here"
_QUANTISED = "quantised tensors are not provided here"
_NETWORKS = "networks and their training are not provided here"
_POLYNOMIALS = (
    "orthogonal polynomials are not provided here: scipy.special has eval_legendre and others"
)
_WINDOWS = "windows of signals are not provided here: numpy has hanning, hamming and others"
_REMOVED = "PyTorch has removed it: torch.linalg has another function for it"
_COMPILER = "compilers of PyTorch's are not provided here"

_PARTS = {
    _AUTOGRAD: "autograd func functional_call register_hook retain_grad retains_grad",
    _COMPLEX: "complex polar view_as_complex view_as_real real imag conj is_conj resolve_conj "
    "conj_physical adjoint fft stft istft",
    _SPARSE: "sparse sparse_coo_tensor sparse_csr_tensor sparse_compressed_tensor to_sparse "
    "to_dense to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc coalesce "
    "is_coalesced indices values sparse_dim dense_dim sparse_mask smm sspaddmm",
    _QUANTISED: "quantize_per_tensor quantize_per_channel dequantize qint8 quint8 qint32 ao "
    "quantization q_scale int_repr fake_quantize_per_tensor_affine",
    _NETWORKS: "selu celu prelu threshold kl_div pairwise_distance pdist cosine_similarity "
    "nn optim hub distributions distributed multiprocessing profiler amp utils.data "
    "utils.checkpoint utils.tensorboard",
    _POLYNOMIALS: "special.hermite_polynomial_h special.hermite_polynomial_he "
    "special.laguerre_polynomial_l special.legendre_polynomial_p "
    + " ".join(f"special.{s}chebyshev_polynomial_{n}" for s in ("", "shifted_") for n in "tuvw"),
    _COMPILER: "jit compile compiler fx export onnx _dynamo _inductor",
    _WINDOWS: "hann_window hamming_window bartlett_window blackman_window kaiser_window",
    _REMOVED: "cholesky eig lstsq qr solve symeig",
    "this module is not provided here": "backends.cuda backends.cudnn backends.mkl backends.mkldnn "
    "backends.openmp masked nested overrides signal testing types accelerator mps xpu",
}
#: Names of PyTorch's that are missing, and why.
MISSING = {name: why for why, names in _PARTS.items() for name in names.split()}


def why_missing(name: str) -> str:
    """Return why a name of PyTorch's is missing, to follow an error's text; '' for other names.

    name: without `torch.`; of what modules have, the module's name tells.
    """
    while name not in MISSING and "." in name:
        name = name.rpartition(".")[0]
    why = MISSING.get(name)
    return f" ({why})" if why else ""
