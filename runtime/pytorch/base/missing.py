"""Names that PyTorch has and this torch lacks, with the reason; and how errors name classes."""

from __future__ import annotations

_HEAP_TYPE = 1 << 9  # CPython's flag of the classes that Python code has made


def type_name(value: object) -> str:
    """Return the name of a value's class, as errors have it.

    It is the whole name of a class that is written in C, or is so in PyTorch.
    """
    cls = type(value)
    is_python = cls.__flags__ & _HEAP_TYPE and cls.__module__ != "torch"
    short = is_python or cls.__module__ == "builtins" or cls.__name__ == "Tensor"
    return cls.__name__ if short else f"{cls.__module__}.{cls.__name__}"


_AUTOGRAD = "autograd is not provided here"
_COMPLEX = "complex numbers are not provided here"
_SPARSE = "sparse tensors are not provided here"
_QUANTISED = "quantised tensors are not provided here"
_NETWORKS = "networks and their training are not provided here"
_SPECIAL = "functions of torch.special are not provided here: scipy.special has them"
_FORMATS = "memory formats are not provided here: contiguous() copies, permute() reorders"
_BFLOAT16 = "bfloat16 tensors are not provided here"
_UNSIGNED = "of unsigned types uint8 alone is provided here: int32 and int64 have larger numbers"
_DLPACK = "DLPack is not provided here: numpy() and from_numpy() share memory"
_WINDOWS = "windows of signals are not provided here: numpy has hanning, hamming and others"
_REMOVED = "PyTorch has removed it: torch.linalg has another function for it"
_COMPILER = "compilers of PyTorch's are not provided here"

_PARTS = {
    _AUTOGRAD: "autograd enable_grad set_grad_enabled func functional_call register_hook "
    "retain_grad retains_grad",
    _COMPLEX: "complex polar view_as_complex view_as_real real imag conj is_conj resolve_conj "
    "conj_physical adjoint H mH fft stft istft complex32 complex64 complex128 chalf cfloat "
    "cdouble",
    _SPARSE: "sparse sparse_coo sparse_csr sparse_coo_tensor sparse_csr_tensor to_sparse to_dense "
    "sparse_compressed_tensor to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr "
    "to_sparse_bsc coalesce is_coalesced indices values sparse_dim dense_dim sparse_mask smm "
    "sspaddmm",
    _QUANTISED: "quantize_per_tensor quantize_per_channel dequantize qint8 quint8 qint32 ao "
    "quantization q_scale int_repr fake_quantize_per_tensor_affine",
    _NETWORKS: "selu celu prelu threshold kl_div pairwise_distance pdist cosine_similarity "
    "nn optim hub distributions distributed multiprocessing profiler amp utils.data "
    "utils.checkpoint utils.tensorboard",
    _SPECIAL: "special",
    _FORMATS: "memory_format contiguous_format preserve_format channels_last channels_last_3d",
    _BFLOAT16: "bfloat16 BFloat16Storage BFloat16Tensor",
    _UNSIGNED: "uint16 uint32 uint64",
    _DLPACK: "from_dlpack to_dlpack utils.dlpack",
    _COMPILER: "jit compile compiler fx export onnx _dynamo _inductor",
    _WINDOWS: "hann_window hamming_window bartlett_window blackman_window kaiser_window",
    _REMOVED: "cholesky qr solve symeig",
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
