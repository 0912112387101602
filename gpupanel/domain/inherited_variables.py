"""What becomes of the variables of a shell that Python, TensorFlow and others would read.

Many of them change what was chosen in the window or in a profile, without a word: which devices
there are, how much memory is taken, in which numbers is calculated. For each it is decided here,
with the reason, whether a process of gpupanel's begins without it, sets it itself, or obeys it.
What a shell sets stays there in any case; what a run sets itself (``additions`` of
:func:`~gpupanel.domain.child_command.child_environment`) counts more than all of this.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple


class Treatment(StrEnum):
    """What becomes of a variable."""

    CLEARED = "cleared"
    """Processes that gpupanel starts begin without it, which is said before a run starts."""
    SET = "set"
    """A run sets it, whatever the shell says."""
    NAMED = "named"
    """Processes obey it, which is said before a run starts: results or speed depend on it."""
    OBEYED = "obeyed"
    """Processes obey it, as is meant by who sets it."""


class InheritedVariable(NamedTuple):
    """A variable, or all whose names begin alike.

    Attributes:
        name: Ends with ``*`` where it is a beginning.
        reader: Which program or library reads it.
        treatment: What becomes of it.
        reason: Why: a clause, as a table and a sentence show it.
        value: Which it has in every process that gpupanel starts; ``None``: none.
        bounds: The least and the most that it is obeyed for, where it is a number; of one that is
            named: that nothing is said of.
        is_read_at_import: Whether it counts when a library is loaded, and not later.
    """

    name: str
    reader: str
    treatment: Treatment
    reason: str
    value: str | None = None
    is_read_at_import: bool = True
    bounds: tuple[float, float] | None = None

    @property
    def beginning(self) -> str:
        """What the names begin with, or the name."""
        return self.name.removesuffix("*")

    def is_obeyed_for(self, text: str) -> bool:
        """Whether a value is within the bounds."""
        if self.bounds is None:
            return True
        least, most = self.bounds
        try:
            return least <= float(text) <= most
        except ValueError:
            return False

    def means(self, name: str) -> bool:
        """Whether a variable of that name is meant."""
        return name.startswith(self.beginning) if self.name.endswith("*") else name == self.name


_QT: Final = "Qt"
_CLEARED, _SET = Treatment.CLEARED, Treatment.SET
_NAMED, _OBEYED = Treatment.NAMED, Treatment.OBEYED

_OF_PYTHON: Final = tuple(
    InheritedVariable(name, "Python", treatment, reason)
    for name, treatment, reason in (
        (
            "PYTHONWARNINGS",
            _CLEARED,
            "`error` makes a failure of what libraries only advise against",
        ),
        ("PYTHONOPTIMIZE", _CLEARED, "it takes out checks and texts that libraries rely on"),
        ("PYTHONINSPECT", _CLEARED, "a process that has ended would stay and wait for input"),
        ("PYTHONDEVMODE", _CLEARED, "it shows every warning, and slows memory down"),
        ("PYTHONTRACEMALLOC", _CLEARED, "it makes every process several times as slow"),
        ("PYTHONVERBOSE", _CLEARED, "a line for each module hides what the log is for"),
        ("PYTHONPROFILEIMPORTTIME", _CLEARED, "a line for each module hides what the log is for"),
        (
            "PYTHONPATH",
            _OBEYED,
            "modules of your own lie there, and count more than those that are installed",
        ),
        ("PYTHON*", _OBEYED, "it decides nothing that a profile decides"),
    )
)

_OF_TENSORFLOW: Final = tuple(
    InheritedVariable(name, "TensorFlow", treatment, reason)
    for name, treatment, reason in (
        ("TF_CONFIG", _CLEARED, "a run makes its own cluster, and would join another one"),
        ("TF_XLA_FLAGS", _CLEARED, "XLA is chosen in the profile (`training.jit_compile`)"),
        (
            "TF_FUNCTION_JIT_COMPILE_DEFAULT",
            _CLEARED,
            "XLA is chosen in the profile (`training.jit_compile`)",
        ),
        (
            "TF_JIT_COMPILE_REWRITE",
            _CLEARED,
            "XLA is chosen in the profile (`training.jit_compile`)",
        ),
        ("TF_ENABLED_DEVICE_TYPES", _CLEARED, "devices are chosen in the profile"),
        ("TF_PER_DEVICE_MEMORY_LIMIT_MB", _CLEARED, "memory is chosen in the profile"),
        (
            "TF_FORCE_UNIFIED_MEMORY",
            _CLEARED,
            "it lets a GPU take more memory than it has, many times as slowly and without an error",
        ),
        ("TF_GPU_HOST_MEM_LIMIT_IN_MB", _NAMED, "it limits what is copied to GPUs"),
        ("TF_CPU_ALLOCATOR_USE_BFC", _CLEARED, "memory is chosen in the profile"),
        ("TF_CPU_BFC_MEM_LIMIT_IN_MB", _CLEARED, "memory is chosen in the profile"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", _SET, "memory is chosen in the profile"),
        ("TF_GPU_ALLOCATOR", _SET, "the allocator is chosen in the profile"),
        ("TF_DEVICE_MIN_SYS_MEMORY_IN_MB", _SET, "memory is chosen in the profile"),
        ("TF_MIN_GPU_MULTIPROCESSOR_COUNT", _SET, "a GPU that was chosen is wanted, small or not"),
        (
            "TF_AUTO_MIXED_PRECISION_*",
            _CLEARED,
            "the numbers are chosen in the profile (`training.mixed_precision`)",
        ),
        ("TF_USE_LEGACY_KERAS", _CLEARED, "models are made by Keras 3"),
        (
            "TF_CPP_MIN_LOG_LEVEL",
            _OBEYED,
            "a run on GPUs sets it: it reads messages about them",
        ),
        (
            "TF_CPP_MAX_VLOG_LEVEL",
            _NAMED,
            "it fills the log of a run; of that the beginning and the end are kept",
        ),
        (
            "TF_CPP_VMODULE",
            _NAMED,
            "it fills the log of a run; of that the beginning and the end are kept",
        ),
        (
            "TF_DETERMINISTIC_OPS",
            _NAMED,
            "each operation is the slower one that always gives the same, and fails without one",
        ),
        (
            "TF_CUDNN_DETERMINISTIC",
            _NAMED,
            "every operation is the slower one that always gives the same",
        ),
        ("TF_ENABLE_ONEDNN_OPTS", _NAMED, "the CPU's results differ in their last digits"),
        ("TF_SET_ONEDNN_FPMATH_MODE", _NAMED, "the CPU calculates with fewer digits"),
        ("TF_VAR_*", _OBEYED, "it is Terraform's"),
        ("TF_CLI_*", _OBEYED, "it is Terraform's"),
        ("TF_LOG", _OBEYED, "it is Terraform's"),
        ("TF_LOG_PATH", _OBEYED, "it is Terraform's"),
        ("TF_DATA_DIR", _OBEYED, "it is Terraform's"),
        ("TF_WORKSPACE", _OBEYED, "it is Terraform's"),
        ("TF_IN_AUTOMATION", _OBEYED, "it is Terraform's"),
        ("TF_INPUT", _OBEYED, "it is Terraform's"),
        ("TF_PLUGIN_CACHE_DIR", _OBEYED, "it is Terraform's"),
        ("TF_*", _NAMED, "TensorFlow reads many of that beginning, for tests of its own"),
        ("AUTOGRAPH_*", _NAMED, "it changes how training functions are made, or what they print"),
    )
)

_OF_XLA_AND_KERAS: Final = (
    InheritedVariable(
        "XLA_FLAGS",
        "XLA",
        _NAMED,
        "it changes how XLA compiles; a flag that this XLA does not know ends the process",
    ),
    InheritedVariable("XLA_*", "XLA", _NAMED, "it changes how XLA compiles"),
    InheritedVariable("KERAS_HOME", "Keras", _OBEYED, "downloaded data sets and weights lie there"),
    InheritedVariable("KERAS_BACKEND", "Keras", _SET, "a run uses TensorFlow", value="tensorflow"),
    InheritedVariable("KERAS_*", "Keras", _CLEARED, "what it changes is chosen in the profile"),
)

_OF_NVIDIA: Final = tuple(
    InheritedVariable(name, reader, treatment, reason, is_read_at_import=False)
    for name, reader, treatment, reason in (
        ("CUDA_VISIBLE_DEVICES", "CUDA", _SET, "a profile that names no device follows it"),
        ("CUDA_DEVICE_ORDER", "CUDA", _SET, "a run names its GPUs by what is always the same"),
        ("CUDA_LAUNCH_BLOCKING", "CUDA", _NAMED, "GPUs wait for each step's every part"),
        ("CUDA_*", "CUDA", _OBEYED, "it decides nothing that a profile decides"),
        (
            "NVIDIA_TF32_OVERRIDE",
            "CUDA",
            _NAMED,
            "it decides, over the profile, with how many digits GPUs multiply",
        ),
        ("NVIDIA_*", "CUDA", _OBEYED, "it says what a container has of the driver"),
        ("NCCL_DEBUG*", "NCCL", _OBEYED, "it prints into the log of a run"),
        ("NCCL_P2P_DISABLE", "NCCL", _NAMED, "gradients take the way through the host's memory"),
        ("NCCL_SOCKET_IFNAME", "NCCL", _SET, "processes of one machine meet on loopback"),
        ("NCCL_*", "NCCL", _NAMED, "it changes how gradients are summed over GPUs"),
    )
)

_OF_LIBRARIES: Final = (
    InheritedVariable(
        "LD_*",
        "the loader",
        _OBEYED,
        "libraries lie there that are not found otherwise, and count more than those that are "
        "installed",
    ),
    InheritedVariable(
        "PROTOCOL_BUFFERS_*",
        "protobuf",
        _CLEARED,
        "TensorFlow chooses how protobuf works, and some of its ways are gone",
    ),
    InheritedVariable(
        "ONEDNN_DEFAULT_FPMATH_MODE", "oneDNN", _NAMED, "the CPU calculates with fewer digits"
    ),
    InheritedVariable(
        "DNNL_DEFAULT_FPMATH_MODE", "oneDNN", _NAMED, "the CPU calculates with fewer digits"
    ),
    *(
        InheritedVariable(name, reader, _OBEYED, "it decides nothing that a profile decides")
        for name, reader in (
            ("ONEDNN_*", "oneDNN"),
            ("DNNL_*", "oneDNN"),
            ("OMP_*", "OpenMP"),
            ("GOMP_*", "OpenMP"),
            ("KMP_*", "OpenMP"),
            ("MKL_*", "MKL"),
            ("OPENBLAS_*", "OpenBLAS"),
            ("GOTO_*", "OpenBLAS"),
            ("NPY_*", "NumPy"),
            ("NUMPY_*", "NumPy"),
            ("MALLOC_*", "the C library"),
            ("GLIBC_*", "the C library"),
            ("GRPC_*", "gRPC"),
            ("HDF5_*", "HDF5"),
        )
    ),
    InheritedVariable(
        "HOME", "Python, Keras", _OBEYED, "your own packages and Keras's data sets lie there"
    ),
)

_OF_QT: Final = tuple(
    InheritedVariable(name, _QT, treatment, reason, value, is_read_at_import=False)
    for name, treatment, reason, value in (
        ("QT_PLUGIN_PATH", _CLEARED, "plugins of another Qt end the window", None),
        ("QT_QPA_PLATFORM_PLUGIN_PATH", _CLEARED, "plugins of another Qt end the window", None),
        ("QT_FATAL_WARNINGS", _CLEARED, "a warning would end the window", None),
        ("QT_FATAL_CRITICALS", _CLEARED, "a warning would end the window", None),
        ("PYQTGRAPH_QT_LIB", _SET, "the window is made with PySide6", "PySide6"),
        ("QT_API", _SET, "the window is made with PySide6", "pyside6"),
        ("QT_*", _OBEYED, "it is how windows of this desktop look", None),
    )
)

_SCALES: Final = (
    InheritedVariable(
        "QT_SCALE_FACTOR",
        _QT,
        _OBEYED,
        "it is how large a window is; anything but a number from 0.25 to 8 is cleared",
        is_read_at_import=False,
        bounds=(0.25, 8.0),
    ),
    InheritedVariable(
        "QT_FONT_DPI",
        _QT,
        _OBEYED,
        "it is how large texts are; anything but a number from 24 to 768 is cleared",
        is_read_at_import=False,
        bounds=(24.0, 768.0),
    ),
)

_OF_LAUNCHERS: Final = tuple(
    InheritedVariable(
        name,
        reader,
        _NAMED,
        "a command that was started several times trains the whole model as often",
        is_read_at_import=False,
        bounds=(0.0, 1.0),
    )
    for name, reader in (
        ("SLURM_STEP_NUM_TASKS", "srun"),
        ("OMPI_COMM_WORLD_SIZE", "mpirun"),
        ("PMI_SIZE", "mpiexec"),
        ("LOCAL_WORLD_SIZE", "torchrun"),
    )
)
"""In which programs that start a command several times say how often: srun(1), mpirun of Open MPI,
mpiexec of MPICH and Intel MPI, torchrun of PyTorch."""
LAUNCHERS: Final = frozenset(each.reader for each in _OF_LAUNCHERS)

INHERITED_VARIABLES: Final = (
    *_OF_PYTHON,
    *_OF_TENSORFLOW,
    *_OF_XLA_AND_KERAS,
    *_OF_NVIDIA,
    *_OF_LIBRARIES,
    *_SCALES,
    *_OF_QT,
    *_OF_LAUNCHERS,
)
"""All; the first that means a variable counts."""


def known_variable(name: str) -> InheritedVariable | None:
    """What is decided of a variable; ``None``: nothing, and it is obeyed."""
    return next((each for each in INHERITED_VARIABLES if each.means(name)), None)


def is_cleared(name: str) -> bool:
    """Whether a process of gpupanel's begins without that variable."""
    known = known_variable(name)
    return known is not None and known.treatment is Treatment.CLEARED


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """What a process that gpupanel starts has of these variables, with the values that are set."""
    return _treated(environment, lambda variable: variable.reader != _QT)


def of_window(environment: Mapping[str, str]) -> dict[str, str]:
    """What the window has of these variables: those of Qt are treated, and no others."""
    return _treated(environment, lambda variable: variable.reader == _QT)


def _treated(
    environment: Mapping[str, str], concerns: Callable[[InheritedVariable], bool]
) -> dict[str, str]:
    kept = {
        name: text
        for name, text in environment.items()
        if (known := known_variable(name)) is None
        or not concerns(known)
        or (known.treatment is not Treatment.CLEARED and known.is_obeyed_for(text))
    }
    return kept | {
        each.name: each.value
        for each in INHERITED_VARIABLES
        if each.value is not None and concerns(each)
    }


def reported_variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The names of those that are said before a run starts, sorted; an empty one says nothing."""
    return tuple(
        name
        for name, text in sorted(environment.items())
        if text
        and (known := known_variable(name)) is not None
        and known.treatment in (Treatment.CLEARED, Treatment.NAMED)
        and known.reader != _QT
        and (known.bounds is None or not known.is_obeyed_for(text))
    )


def deciding_variables(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What an answer of TensorFlow depends on: all that its process obeys and that is known here.

    Those that a run sets itself are left out, and those that only Qt or launchers know.
    """
    deciding = (Treatment.NAMED, Treatment.OBEYED)
    return tuple(
        (name, text)
        for name, text in sorted(environment.items())
        if (known := known_variable(name)) is not None
        and known.treatment in deciding
        and known.reader not in (_QT, *LAUNCHERS)
    )
