"""What is said of the names of the classes of the data."""

import pytest

from gpupanel.domain.data import ImagesData
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.context import Known, planning_context
from gpupanel.planning.rules.class_rules import classes_alike
from tests.fakes.devices import CPU_ONLY

ONE_CHARACTER = "\N{LATIN SMALL LETTER E WITH ACUTE}te"
TWO_CHARACTERS = "e\N{COMBINING ACUTE ACCENT}te"


def said_of(names: tuple[str, ...], task: str = "train") -> list[Problem]:
    profile = Profile.model_validate({"data": ImagesData(path="/images"), "task": task})
    seen = DataPreview(feature_shape=(8, 8, 3), class_counts=tuple((each, 4) for each in names))
    return list(classes_alike(planning_context(profile, CPU_ONLY, Known(preview=seen))))


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (("cat", "Cat", "dog"), '"cat" and "Cat"'),
        (("cat", "cat ", "hot dog", "hotdog"), '"cat" and "cat "; "hot dog" and "hotdog"'),
        (("<=50K", "<=50K.", ">50K"), '"<=50K" and "<=50K."'),
        (("1", "01", "10"), '"1" and "01"'),
        ((ONE_CHARACTER, TWO_CHARACTERS), f'"{ONE_CHARACTER}" in different Unicode forms'),
    ],
)
def test_that_names_that_are_read_as_one_are_warned_of(names: tuple[str, ...], named: str) -> None:
    (problem,) = said_of(names)
    assert (problem.code, problem.severity) == ("data_classes_alike", Severity.WARNING)
    assert problem.message == f"Names of different classes are read alike: {named}."


def test_that_other_names_are_not_spoken_of() -> None:
    # "a" and "A" are two classes of handwriting.
    assert not said_of(("cat", "dog", "a", "A", "1", "10", ONE_CHARACTER))
    assert not said_of(("cat", "Cat"), task="predict")
