"""What CUDA takes of a GPU's memory besides what TensorFlow's allocator does."""

from typing import Final

CUDA_CONTEXT_MIB: Final = 500
"""The CUDA context of one process on one GPU, with kernels and libraries: 300 to 500 MiB as seen
with TensorFlow 2.x. No memory limit counts it."""
