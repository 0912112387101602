"""A profile after every fix that planning offers for what is wrong with it."""

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare

_MOST_FIXES = 50


def mended(
    profile: Profile,
    inventory: DeviceInventory,
    sample: TelemetrySample | None = None,
    preview: DataPreview | None = None,
    support: GpuSupport | None = None,
) -> Profile:
    """Apply the fix of the first error or warning until none has one; hints stay as they are.

    One fix may bring another problem to light, so the profile is prepared again after each.

    Args:
        profile: What the person chose.
        inventory: The devices of this machine.
        sample: The latest readings.
        preview: What the preview found in the profile's data and model file.
        support: What TensorFlow answered about the GPUs.
    """
    for _ in range(_MOST_FIXES):
        fixes = (
            problem.fix
            for problem in prepare(profile, inventory, sample, preview, support).problems
            if problem.severity is not Severity.HINT and problem.fix is not None
        )
        fix = next(fixes, None)
        if fix is None:
            break
        profile = apply_fix(profile, fix)
    return profile
