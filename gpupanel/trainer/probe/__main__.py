"""``python -m gpupanel.trainer.probe``: what TensorFlow is and finds here, as JSON on stdout.

A process of its own, since importing TensorFlow takes seconds and memory, and may crash.
"""

import os
import traceback
from pathlib import Path

from gpupanel.domain.tensorflow_facts import TensorFlowFacts, TensorFlowGpu
from gpupanel.trainer.probe.cuda_driver import cuda_facts
from gpupanel.trainer.probe.libraries import find_libraries
from gpupanel.trainer.quick_import import quick_import


def main() -> None:
    """Write the facts to stdout; everything that TensorFlow prints goes to stderr."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answer:
        os.dup2(2, 1)
        answer.write(tensorflow_facts().model_dump_json())


def tensorflow_facts() -> TensorFlowFacts:
    """Import TensorFlow and ask it."""
    try:
        with quick_import():
            import keras  # noqa: F401 - a training needs it
            import tensorflow as tf
    except Exception:  # noqa: BLE001 - whatever keeps it from being imported is the answer
        return TensorFlowFacts(import_error=traceback.format_exc())
    build = tf.sysconfig.get_build_info()
    facts = TensorFlowFacts(
        version=tf.__version__,
        is_cuda_build=bool(build.get("is_cuda_build")),
        cuda_version=build.get("cuda_version"),
        cudnn_version=build.get("cudnn_version"),
        compute_capabilities=tuple(build.get("cuda_compute_capabilities", ())),
    )
    # First of all, so that its libraries are found where it found them.
    gpus = tuple(
        _gpu(tf.config.experimental.get_device_details(gpu))
        for gpu in tf.config.list_physical_devices("GPU")
    )
    if not facts.is_cuda_build:
        return facts.model_copy(update={"gpus": gpus})
    libraries = find_libraries(
        facts.cuda_version or "",
        facts.cudnn_version or "",
        Path(tf.__file__).parent.parent / "nvidia",
    )
    return facts.model_copy(update={"gpus": gpus, "libraries": libraries, "cuda": cuda_facts()})


def _gpu(details: dict[str, object]) -> TensorFlowGpu:
    capability = details.get("compute_capability")
    return TensorFlowGpu(
        name=str(details.get("device_name", "GPU")),
        compute_capability=capability if isinstance(capability, tuple) else None,
    )


if __name__ == "__main__":
    main()
