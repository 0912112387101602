"""What of a run's checkpoints can be told without TensorFlow."""

from gpupanel.domain.run_layout import RunLayout


def has_checkpoint(layout: RunLayout) -> bool:
    """Whether a run has something to go on from; what is half written has another name."""
    return any(layout.checkpoints.glob("step-*"))
