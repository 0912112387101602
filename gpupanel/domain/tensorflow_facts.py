"""What TensorFlow reports about itself on this machine: what the probe process answers."""

from gpupanel.domain.value import Value

CUDA_NO_DEVICE = 100
"""``CUDA_ERROR_NO_DEVICE``: what ``cuInit`` answers where all GPUs are hidden."""


class SharedLibrary(Value):
    """A library that TensorFlow loads when it is there.

    Attributes:
        soname: As the loader asks for it (``libcudnn.so.9``).
        package: The Python package that brings it; empty for what belongs to the driver.
        path: Where it was found; ``None`` when it was not, or cannot be loaded.
        error: Why it cannot be loaded, in the loader's words.
        is_required: Whether TensorFlow uses no GPU at all without it.
    """

    soname: str
    package: str = ""
    path: str | None = None
    error: str = ""
    is_required: bool = True

    @property
    def was_found(self) -> bool:
        """Whether it can be loaded."""
        return self.path is not None


class CudaDevice(Value):
    """A GPU, or an instance of one, that the CUDA driver shows to programs.

    Attributes:
        uuid: As NVML writes that of a GPU (``GPU-5f0c...``), also for a MIG instance, of which
            NVML writes ``MIG-`` before the same digits.
        pci_bus_id: As CUDA writes it (``0000:01:00.0``).
    """

    name: str
    uuid: str | None = None
    pci_bus_id: str | None = None
    compute_capability: tuple[int, int] | None = None
    multiprocessor_count: int | None = None


class CudaFacts(Value):
    """What the CUDA driver shows to the process that asks TensorFlow.

    Attributes:
        error_code: Of ``cuInit``, 0 when it went well (a ``CUresult``).
        error: The driver's words for it.
        devices: In CUDA's order, those that ``CUDA_VISIBLE_DEVICES`` hides left out.
    """

    error_code: int = 0
    error: str = ""
    devices: tuple[CudaDevice, ...] = ()


class TensorFlowGpu(Value):
    """A GPU that TensorFlow sees."""

    name: str
    compute_capability: tuple[int, int] | None = None


class TensorFlowBuild(Value):
    """What TensorFlow was built for: known without asking the devices of this machine.

    Attributes:
        cuda_version: The CUDA that it was built for; ``None`` for a build without.
        compute_capabilities: What its kernels were compiled for: ``sm_89`` runs on 8.9 and on
            later GPUs of generation 8, ``compute_90`` is compiled for anything from 9.0 on when
            it starts.
    """

    version: str
    is_cuda_build: bool = False
    cuda_version: str | None = None
    compute_capabilities: tuple[str, ...] = ()


class TensorFlowFacts(Value):
    """TensorFlow's build, and what it finds.

    Attributes:
        version: ``None`` when it cannot be imported.
        import_error: The trace of the failed import; empty when it went well.
        cuda_version: The CUDA that it was built for; ``None`` for a build without.
        compute_capabilities: What its kernels were compiled for (``sm_89``, ``compute_90``).
        gpus: The GPUs that it lists, in its own order (CUDA's, fastest first).
        libraries: What it loads to use GPUs; empty for a build without CUDA, and only the
            driver's for a CUDA whose libraries the probe does not know.
        cuda: ``None`` where the driver's library cannot be loaded, and for a build without CUDA.
    """

    version: str | None = None
    import_error: str = ""
    is_cuda_build: bool = False
    cuda_version: str | None = None
    cudnn_version: str | None = None
    compute_capabilities: tuple[str, ...] = ()
    gpus: tuple[TensorFlowGpu, ...] = ()
    libraries: tuple[SharedLibrary, ...] = ()
    cuda: CudaFacts | None = None

    @property
    def build(self) -> TensorFlowBuild | None:
        """What it was built for; ``None`` when it cannot be imported."""
        if self.version is None:
            return None
        return TensorFlowBuild(
            version=self.version,
            is_cuda_build=self.is_cuda_build,
            cuda_version=self.cuda_version,
            compute_capabilities=self.compute_capabilities,
        )
