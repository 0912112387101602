"""Driver and TensorFlow."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Driver and TensorFlow",
    "What the doctor finds.",
    {
        "no_nvidia_gpu": ProblemEntry(
            "There is no NVIDIA GPU with a driver.",
            "So training runs on the CPU.",
            "Nothing else is needed for that.",
        ),
        "no_gpu_listed": ProblemEntry(
            "The driver answers, but lists no GPU.",
            "The GPU is switched off, or a container was started without it.",
            "Do what the hint says.",
        ),
        "nvidia_driver_missing": ProblemEntry(
            "There is an NVIDIA GPU, but no driver.",
            "It was not installed.",
            "Install the driver of your distribution, and restart.",
        ),
        "nvidia_driver_not_answering": ProblemEntry(
            "The driver does not answer.",
            "It is not loaded, was updated while the old one runs, lacks its library, or you "
            "may not use it.",
            "Run the command that is shown, or do what the hint says.",
        ),
        "nvidia_driver_not_asked": ProblemEntry(
            "The process that asks the driver gave no answer.",
            "The system has no room for a process.",
            "Free some memory, and try again.",
        ),
        "nvidia_driver_hangs": ProblemEntry(
            "The driver does not answer in time.",
            "It, or a GPU, hangs.",
            "Restart the machine; `sudo dmesg` shows what the kernel wrote.",
        ),
        "nvidia_driver_crashes": ProblemEntry(
            "The driver's library crashes when it is asked.",
            "Its parts are of different versions.",
            "Reinstall the driver, all parts of the same version, and restart.",
        ),
        "nvidia_driver_too_old": ProblemEntry(
            "TensorFlow needs a newer CUDA than the driver runs.",
            "The driver is older than the build.",
            "Install a newer driver, and restart.",
        ),
        "nvidia_driver_too_old_to_compile": ProblemEntry(
            "The driver cannot compile TensorFlow's kernels for this GPU.",
            "It is older than the CUDA that they are of.",
            "Install a newer driver, and restart.",
        ),
        "driver_libraries_missing": ProblemEntry(
            "A library of the driver is not found.",
            "Only a part of it was installed, or let into the container.",
            "Run the command that is shown.",
        ),
        "gpus_without_management_library": ProblemEntry(
            "TensorFlow sees GPUs, but the driver's `libnvidia-ml.so.1` is missing.",
            "The part with nvidia-smi was not installed.",
            "Install it: without it GPUs can be neither chosen nor monitored.",
        ),
        "device_node_missing": ProblemEntry(
            "A device file that CUDA needs is missing.",
            "The kernel module is not loaded, or the container lacks it.",
            "Load the module, or start the container with its GPUs.",
        ),
        "device_nodes_forbidden": ProblemEntry(
            "You may not use the GPU's device files.",
            "You are not in the group that may.",
            "Join it, then log in again; or ask an administrator.",
        ),
        "container_without_gpus": ProblemEntry(
            "The container was started without the machine's GPU.",
            "It was not given.",
            "Start it with `--gpus all`, or what your runtime calls it.",
        ),
        "wsl_without_gpu": ProblemEntry(
            "Windows shows no GPU to this Linux.",
            "WSL is old, or of version 1.",
            "Bring WSL up to date.",
        ),
        "wsl_without_driver": ProblemEntry(
            "Windows shows a GPU, but no NVIDIA driver answers.",
            "It is not NVIDIA's, or its driver is missing in Windows.",
            "Install the driver in Windows, not in here.",
        ),
        "cuda_does_not_start": ProblemEntry(
            "The driver lists GPUs, but CUDA does not start.",
            "Driver and kernel module differ, often after an update.",
            "Do what the hint says; restarting often helps.",
        ),
        "gpu_partitioned_without_instances": ProblemEntry(
            "A GPU is in MIG mode and has no instances.",
            "Nothing can use it so.",
            "Switch MIG mode off, or make instances.",
        ),
        "one_mig_instance_a_process": ProblemEntry(
            "A MIG instance cannot be seen beside another one.",
            "CUDA shows a process one of them.",
            "Nothing is wrong: choose the instance that a run is to use.",
        ),
        "gpus_hidden_by_environment": ProblemEntry(
            "CUDA_VISIBLE_DEVICES hides GPUs here.",
            "A shell's start file sets it, or somebody who shares the machine has asked for it.",
            "Unset it where it is not meant. Runs whose profiles name no device keep to it.",
        ),
        "gpus_not_seen_by_tensorflow": ProblemEntry(
            "The driver lists GPUs that TensorFlow does not see.",
            "Often the machine was not restarted after a driver update.",
            "Read the detail, which is what TensorFlow wrote.",
        ),
        "gpu_refused_by_tensorflow": ProblemEntry(
            "TensorFlow ignores a GPU.",
            "The detail says why.",
            "Restarting the machine often helps.",
        ),
        "gpu_too_old_for_tensorflow": ProblemEntry(
            "The GPU is too old for this TensorFlow.",
            "It has no kernels for its compute capability.",
            "Train on another device, or with a TensorFlow that is built for it.",
        ),
        "gpu_too_new_for_tensorflow": ProblemEntry(
            "The GPU is too new for this TensorFlow.",
            "It has no kernels for its compute capability.",
            "Install a newer TensorFlow.",
        ),
        "gpu_with_too_few_multiprocessors": ProblemEntry(
            "TensorFlow ignores a small GPU beside a large one, outside of gpupanel's runs.",
            "It has fewer multiprocessors than TensorFlow asks for. Runs of gpupanel lower that "
            "number, and take the GPU where it is chosen.",
            "For other programs do what the hint says: a variable lowers that number.",
        ),
        "tensorflow_without_cuda": ProblemEntry(
            "This TensorFlow was built without CUDA.",
            "The CPU package was installed.",
            "Run the command that is shown, such as `pip install 'gpupanel[cuda]'`.",
        ),
        "cuda_libraries_missing": ProblemEntry(
            "TensorFlow does not find CUDA libraries that it needs.",
            "NVIDIA's packages are not installed, or of another version.",
            "Run the command that is shown.",
        ),
        "optional_cuda_libraries_missing": ProblemEntry(
            "TensorFlow does not find libraries that it can do without.",
            "Sums of gradients over several GPUs are slower without NCCL; traces need CUPTI.",
            "Run the command that is shown if you need them.",
        ),
        "environment_spoils_import": ProblemEntry(
            "TensorFlow cannot be imported, and can without something of elsewhere.",
            "Packages from `PYTHONPATH` or your home, libraries from `LD_LIBRARY_PATH`, a "
            "`keras.json`, a variable or a limit of the shell.",
            "Start gpupanel without it: the command does.",
        ),
        "environment_spoils_gpupanel": ProblemEntry(
            "A package of another environment keeps gpupanel from working.",
            "`PYTHONPATH`, `LD_LIBRARY_PATH` or your home has one of those that gpupanel stands "
            "on, such as pydantic, psutil or Qt, in another version.",
            "Start gpupanel without it: the command does.",
        ),
        "keras_file_refused": ProblemEntry(
            "Keras refuses to be imported because of a `keras.json` in your home.",
            "Another version of Keras, or a person, wrote it.",
            "Move it away: the command does. gpupanel needs none.",
        ),
        "packages_of_elsewhere": ProblemEntry(
            "A package that gpupanel stands on is taken from another environment.",
            "`PYTHONPATH` names a folder that has one, or one was installed into your home.",
            "Start gpupanel without it: the command does.",
        ),
        "tensorflow_not_importable": ProblemEntry(
            "TensorFlow cannot be imported.",
            "It is not installed, or its files are damaged.",
            "Run the command that is shown.",
        ),
        "tensorflow_crashed": ProblemEntry(
            "TensorFlow crashes when it is imported.",
            "The processor lacks instructions (AVX) that it uses, memory ran out, or a library "
            "is broken.",
            "Do what the hint says.",
        ),
        "tensorflow_import_timed_out": ProblemEntry(
            "TensorFlow did not answer in time.",
            "The disk is slow or busy.",
            "Try again; if it happens again, reinstall TensorFlow.",
        ),
        "tensorflow_probe_not_started": ProblemEntry(
            "The process that checks TensorFlow could not be started.",
            "The system has no room for a process.",
            "Free some memory, and try again.",
        ),
        "tensorflow_probe_cancelled": ProblemEntry(
            "The check of TensorFlow was cancelled.",
            "A person did so, or the window was closed.",
            "Check again.",
        ),
        "tensorflow_probe_failed": ProblemEntry(
            "The process that checks TensorFlow gave no answer.",
            "It ended in a way that nobody expected.",
            "Copy the detail into a report.",
        ),
    },
)
