"""Parts of PyTorch that are not provided, and what an error says of them."""

from __future__ import annotations

_AUTOGRAD = "autograd is not provided here"
_COMPLEX = "complex numbers are not provided here"
_SPARSE = "sparse tensors are not provided here"
_QUANTISED = "quantised tensors are not provided here"
_NETWORKS = "networks and their training are not provided here"
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
    _NETWORKS: "nn optim hub distributions distributed multiprocessing profiler amp",
    _COMPILER: "jit compile fx export onnx _dynamo _inductor",
}
_WHY = {name: why for why, names in _PARTS.items() for name in names.split()}


def why_missing(name: str) -> str:
    """Why a name of PyTorch's is missing, to stand behind an error's text; '' for other names."""
    why = _WHY.get(name)
    return f" ({why})" if why else ""
