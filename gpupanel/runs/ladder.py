"""The ways in which a profile's training fits this machine as it is now."""

from dataclasses import replace
from pathlib import Path

from gpupanel.domain.ladder import Ladder
from gpupanel.domain.model_summary import ModelSummary
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.profile import Profile
from gpupanel.planning.ladder.rungs import ladder
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.history.measured_speeds import device_speeds
from gpupanel.runs.readiness import AskSupport, Machine, ask_doctor, known_on


def ladder_on(
    machine: Machine,
    profile: Profile,
    preview: DataPreview,
    found: ModelSummary,
    ask_support: AskSupport = ask_doctor,
) -> Ladder:
    """The ways in which a profile's training fits that machine.

    Args:
        machine: As it was read.
        profile: What somebody chose.
        preview: Of its data.
        found: Its model, with what a step holds computed in every way.
        ask_support: Asks which GPUs TensorFlow can use.
    """
    if found.problems and not found.variants:
        return Ladder(problems=found.problems)
    known = known_on(machine, profile, preview, ask_support, found.step)
    speeds = device_speeds(anchored(profile, Path.cwd()), machine.inventory)
    known = replace(known, variants=found.variants, speeds=speeds)
    problems = prepare(profile, machine.inventory, known).problems
    refused = tuple(each for each in problems if each.is_error)
    ways = ladder(profile, machine.inventory, known)
    return ways if ways.rungs else ways.model_copy(update={"problems": refused})
