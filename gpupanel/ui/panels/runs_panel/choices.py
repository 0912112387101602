"""What can be done with the runs that are chosen in the table, and why not what cannot."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpupanel.runs.history.run_summary import RunSummary

FEWEST_COMPARED, MOST_COMPARED = 2, 8


@dataclass(frozen=True, slots=True)
class RunChoices:
    """The enabled state of every button about the chosen runs, and what its tooltip says."""

    can_open: bool
    can_compare: bool
    compare_tip: str
    can_label: bool
    can_delete: bool
    delete_tip: str


def run_choices(chosen: Sequence[RunSummary]) -> RunChoices:
    """What can be done with these runs."""
    count, running = len(chosen), [run for run in chosen if run.is_running]
    compare = FEWEST_COMPARED <= count <= MOST_COMPARED
    if running:
        delete_tip = f"{running[0].title} is running: stop it before it can be moved to the bin."
    else:
        what = "the chosen run" if count <= 1 else f"the {count} chosen runs"
        delete_tip = f"Moves {what} to the bin, with checkpoints and model (Del)"
    return RunChoices(
        can_open=count == 1,
        can_compare=compare,
        compare_tip="Compares the curves of the chosen runs"
        if compare
        else f"Choose {FEWEST_COMPARED} to {MOST_COMPARED} runs (Ctrl+click) to compare them.",
        can_label=count == 1,
        can_delete=count > 0 and not running,
        delete_tip=delete_tip,
    )
