"""What of a run's checkpoints is known without TensorFlow."""

from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import check_folder


def has_checkpoint(layout: RunLayout) -> bool:
    """Whether a run has something to go on from; what is half written has another name."""
    try:
        return check_folder(layout.checkpoints) and any(layout.checkpoints.glob("step-*"))
    except OSError:
        return False  # a link in its place leads to checkpoints of something else
