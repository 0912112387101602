"""What is said of a sweep before it is started."""

from gpupanel.domain.profile import Profile
from gpupanel.domain.sweep import SweepMethod, SweepSettings
from gpupanel.domain.visible_text import visible_line
from gpupanel.planning.sweep_offer import offer_of
from gpupanel.runs.history.past_speed import PastSpeed
from gpupanel.runs.sweeps.proposing import SweepProposal
from gpupanel.ui import formatting
from gpupanel.ui.setting_titles import metric_title, within_words

_MOST_NAMED = 4


def proposal_text(
    proposal: SweepProposal, at_once: int, examples: int | None, speed: PastSpeed | None
) -> str:
    """How the trials run, and how long they take together where that is known.

    Args:
        proposal: What would run.
        at_once: How many trials run at the same time.
        examples: That are trained on in an epoch; ``None``: not known.
        speed: Of the session's training before; ``None``: not known.
    """
    sweep = proposal.profile.sweep
    if sweep is None or not proposal.count:
        return ""
    words = ["One after the other."]
    if at_once > 1:
        words = [f"{at_once} at once, one on each device."]
    runs = proposal.count * proposal.runs_each
    if proposal.runs_each > 1:
        words.insert(0, f"{runs:,} runs, {proposal.runs_each} of each trial.")
    if speed is not None and examples and proposal.epochs:
        # Each run is started anew.
        around_s = (runs - 1) * (speed.around_s or 0.0)
        seconds = (speed.seconds(proposal.epochs * examples) + around_s) / at_once
        rate = formatting.rate(speed.examples_per_second)
        fewer = " or less, as poor trials are stopped early" if sweep.prune else ""
        words.append(
            f"About {formatting.duration(seconds)}{fewer}, at the {rate} of "
            f"{visible_line(speed.run)}."
        )
    if len(proposal.trials) < proposal.count and proposal.trials:
        words.append(f"The first {len(proposal.trials)} are listed.")
    return " ".join(words)


def sweep_sentence(profile: Profile) -> str:
    """What the profile's sweep tries, in one line; empty: it has none."""
    sweep = profile.sweep
    if sweep is None:
        return ""
    titles = [offer_of(profile, key).setting.title for key in sweep.values]
    more = len(titles) - _MOST_NAMED
    named = ", ".join(titles[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"The profile has a sweep of {named or 'nothing yet'}: {_how(sweep)}."


def _how(sweep: SweepSettings) -> str:
    metric = visible_line(within_words(metric_title(sweep.metric)))
    if sweep.method is SweepMethod.GRID:
        return f"a grid, compared by {metric}"
    trials = f"{sweep.trials:,} {'trial' if sweep.trials == 1 else 'trials'}"
    method = "at random" if sweep.method is SweepMethod.RANDOM else "chosen by Optuna"
    return f"{trials} {method}, compared by {metric}"
