"""Files by which processes of an evaluation or a prediction hand outputs to the one that leads."""

from contextlib import suppress

from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import remove


def remove_handed_outputs(layout: RunLayout) -> None:
    """Remove them, before a start and after it: each start computes all outputs."""
    for file in layout.root.glob("outputs-*.bin"):
        with suppress(OSError):
            remove(file, layout.root)
