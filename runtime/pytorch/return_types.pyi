# Written by runtime/pytorch/listing.py.
# mypy: disable-error-code="overload-overlap, overload-cannot-match, override, misc"
from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Iterator, Sequence
from typing import Any, overload

from numpy import ndarray

from th_shell.torch import return_types
from th_shell.torch.base.dtypes import (
    dtype as _dtype, layout as _layout, memory_format as _memory_format
)
from th_shell.torch.base.shapes import Size as _Size
from th_shell.torch.calls.device import device as _device
from th_shell.torch.classes.generator import Generator as _Generator
from th_shell.torch.classes.storages import (
    TypedStorage as TypedStorage, UntypedStorage as UntypedStorage
)
from th_shell.torch.tensors.tensor import Tensor as Tensor

from typing import NamedTuple
class cummax(NamedTuple):
    values: Tensor
    indices: Tensor
class cummin(NamedTuple):
    values: Tensor
    indices: Tensor
class kthvalue(NamedTuple):
    values: Tensor
    indices: Tensor
class max(NamedTuple):
    values: Tensor
    indices: Tensor
class median(NamedTuple):
    values: Tensor
    indices: Tensor
class min(NamedTuple):
    values: Tensor
    indices: Tensor
class mode(NamedTuple):
    values: Tensor
    indices: Tensor
class nanmedian(NamedTuple):
    values: Tensor
    indices: Tensor
class sort(NamedTuple):
    values: Tensor
    indices: Tensor
class topk(NamedTuple):
    values: Tensor
    indices: Tensor
class aminmax(NamedTuple):
    min: Tensor
    max: Tensor
class frexp(NamedTuple):
    mantissa: Tensor
    exponent: Tensor
class linalg_eig(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor
class linalg_eigh(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor
class linalg_lstsq(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor
class linalg_lu(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor
class linalg_lu_factor(NamedTuple):
    LU: Tensor
    pivots: Tensor
class linalg_lu_factor_ex(NamedTuple):
    LU: Tensor
    pivots: Tensor
    info: Tensor
class linalg_qr(NamedTuple):
    Q: Tensor
    R: Tensor
class linalg_slogdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor
class slogdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor
class linalg_svd(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor
class svd(NamedTuple):
    U: Tensor
    S: Tensor
    V: Tensor
class cummax_out(NamedTuple):
    values: Tensor
    indices: Tensor
class cummin_out(NamedTuple):
    values: Tensor
    indices: Tensor
class kthvalue_out(NamedTuple):
    values: Tensor
    indices: Tensor
class max_out(NamedTuple):
    values: Tensor
    indices: Tensor
class median_out(NamedTuple):
    values: Tensor
    indices: Tensor
class min_out(NamedTuple):
    values: Tensor
    indices: Tensor
class mode_out(NamedTuple):
    values: Tensor
    indices: Tensor
class nanmedian_out(NamedTuple):
    values: Tensor
    indices: Tensor
class sort_out(NamedTuple):
    values: Tensor
    indices: Tensor
class topk_out(NamedTuple):
    values: Tensor
    indices: Tensor
class aminmax_out(NamedTuple):
    min: Tensor
    max: Tensor
class frexp_out(NamedTuple):
    mantissa: Tensor
    exponent: Tensor
class linalg_eig_out(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor
class linalg_eigh_out(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor
class linalg_lstsq_out(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor
class linalg_lu_out(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor
class linalg_lu_factor_out(NamedTuple):
    LU: Tensor
    pivots: Tensor
class linalg_lu_factor_ex_out(NamedTuple):
    LU: Tensor
    pivots: Tensor
    info: Tensor
class linalg_qr_out(NamedTuple):
    Q: Tensor
    R: Tensor
class linalg_slogdet_out(NamedTuple):
    sign: Tensor
    logabsdet: Tensor
class slogdet_out(NamedTuple):
    sign: Tensor
    logabsdet: Tensor
class linalg_svd_out(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor
class svd_out(NamedTuple):
    U: Tensor
    S: Tensor
    V: Tensor
