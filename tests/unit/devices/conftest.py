from tests.nvml.fixtures import (
    eight_gpu_environment,
    nvml_environment,
    nvml_in_process,
    nvml_library,
    nvml_standin,
    old_nvml_library,
    use_in_process,
)

__all__ = [
    "eight_gpu_environment",
    "nvml_environment",
    "nvml_in_process",
    "nvml_library",
    "nvml_standin",
    "old_nvml_library",
    "use_in_process",
]
