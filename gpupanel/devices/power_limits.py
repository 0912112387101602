"""Setting the power limit of a GPU, which is the administrator's on most machines."""

from gpupanel.devices.nvml import DriverGoneError, GpuLostError, NvmlGpu, NvmlLibrary
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.power import limit_command
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.visible_text import visible_line


def set_power_limit(gpu: PhysicalDevice, limit_w: float) -> None:
    """Set a limit, which holds until the driver is loaded anew; may take as long as the driver.

    Args:
        gpu: Which, as it was listed.
        limit_w: In watts.

    Raises:
        ProblemError: It cannot be set, or this user may not: then with the command that the
            administrator enters.
    """
    check_limit(gpu, limit_w)
    library = NvmlLibrary()
    try:
        library.open()
        _found(library, gpu).set_power_limit(limit_w)
    except PermissionError as error:
        raise ProblemError(_not_permitted(gpu, limit_w, str(error))) from error
    except (NotImplementedError, ValueError, GpuLostError, DriverGoneError) as error:
        raise ProblemError(_not_set(gpu, limit_w, visible_line(str(error)))) from error
    finally:
        library.close()


def check_limit(gpu: PhysicalDevice, limit_w: float) -> None:
    """Refuse a limit that the GPU says that it does not take.

    Raises:
        ProblemError: It is too low or too high.
    """
    least_w, most_w = gpu.power_limit_least_w, gpu.power_limit_most_w
    too_low = limit_w <= 0.0 or (least_w is not None and limit_w < least_w)
    if not too_low and (most_w is None or limit_w <= most_w):
        return
    bounds = "" if least_w is None else f": {least_w:.0f} W to {most_w or least_w:.0f} W"
    raise ProblemError(
        Problem(
            code="power_limit_out_of_bounds",
            message=f"{gpu.name} takes no power limit of {limit_w:g} W.",
            hint=f"Give one that it takes{bounds}.",
        )
    )


def _found(library: NvmlLibrary, wanted: PhysicalDevice) -> NvmlGpu:
    for index in range(library.gpu_count()):
        gpu = library.gpu(index)
        if gpu is not None and gpu.uuid() == wanted.key:
            return gpu
    raise ValueError("the driver does not list it any more")


def _not_permitted(gpu: PhysicalDevice, limit_w: float, said: str) -> Problem:
    return Problem(
        code="power_limit_not_permitted",
        message=f"The power limit of {gpu.name} was not set: it is the administrator's to set.",
        hint="Enter this command, which holds until the driver is loaded anew.",
        command=limit_command(gpu.key, limit_w),
        detail=said,
    )


def _not_set(gpu: PhysicalDevice, limit_w: float, said: str) -> Problem:
    return Problem(
        code="power_limit_not_set",
        message=f"The power limit of {gpu.name} was not set to {limit_w:.0f} W: {said}.",
        hint="Laptops and some boards have a fixed limit; gpupanel doctor checks the driver.",
    )
