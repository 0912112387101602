"""A scan as people read it."""

import json

from gpupanel.domain.data import DigitsData, ImagesData, Target
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import (
    DataScan,
    SameExamples,
    ScannedArray,
    ScannedColumn,
    ScannedExample,
    ScannedSet,
    Tally,
    UnreadableExample,
    scan_request,
)
from gpupanel.domain.scan_text import scan_sections, scan_summary, scan_text

ODD = Problem(code="odd", severity=Severity.WARNING, message="That is odd.")
WHOLE = DataScan(
    is_complete=True,
    seconds=2.34,
    described="/data",
    feature_shape=(8, 8),
    sets=(
        ScannedSet(name="training", examples=3, labelled=3, class_counts=(("cat", 2), ("dog", 1))),
        ScannedSet(name="validation", examples=1, labelled=0),
    ),
    unlabelled=4,
    empty_classes=("eel",),
    formats=(Tally(name="PNG, RGB", count=4),),
    sizes=(Tally(name="7 x 9", count=4),),
    columns=(
        ScannedColumn(name="a", holds="number", least=0.5, greatest=2, mean=1.25, missing=1),
        ScannedColumn(name="d", holds="date", least=20_454.5, greatest=1e12, mean=3.0),
        ScannedColumn(name="b", holds="category", different=2, is_constant=True),
    ),
    arrays=(
        ScannedArray(name="x", shape=(4, 8), dtype="uint8"),
        ScannedArray(name="n", dtype="int64"),
        ScannedArray(name="torn"),
    ),
    leaked=1,
    copies=1,
    same=(
        SameExamples(
            count=5,
            examples=(
                ScannedExample(set="training", name="1.png", label="cat"),
                ScannedExample(set="validation", name="2.png", label="dog"),
            ),
        ),
        SameExamples(
            count=2,
            examples=(
                ScannedExample(set="training", name="row 1"),
                ScannedExample(set="training", name="row 2"),
            ),
        ),
    ),
    unreadable_count=1,
    unreadable=(UnreadableExample(set="training", name="bad.png", why="It is cut short."),),
    problems=(ODD,),
)


def test_that_all_that_is_known_stands_in_the_text() -> None:
    text = scan_text(WHOLE)
    assert text.startswith(
        "Data: /data\n3 training examples, 1 validation example, scanned in 2.3 s.\n"
    )
    assert text.index("That is odd.") < text.index("Examples\n")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for line in (
        "Training 3",
        "Validation 1, 1 without a label",
        "Left out for lack of a label 4",
        "One example 8 x 8",
        "Shared by several sets 1",
        "cat 2 (66.7 %)",
        "eel holds nothing",
        "PNG, RGB 4",
        "7 x 9 4",
        "x 4 x 8, uint8",
        "n one number, int64",
        "torn damaged",
        "a number, 0.5 to 2, mean 1.25, 1 empty",
        "d date, 2026-01-01 to day 1e+12",
        "b category, 2 different, constant",
        "training: 1.png (cat) validation: 2.png (dog), 3 more",
        "training: row 1 training: row 2",
        "training: bad.png It is cut short.",
    ):
        assert line in lines


def test_that_what_is_not_known_is_said() -> None:
    assert "downloads it" in scan_summary(DataScan(needs_download=True))
    assert "Python code" in scan_summary(DataScan(needs_start=True))
    assert scan_summary(DataScan()) == "Nothing is known yet."
    assert "could not" in scan_summary(DataScan(problems=(ODD,)))
    assert scan_sections(DataScan()) == ()
    part = WHOLE.model_copy(update={"is_complete": False})
    assert scan_summary(part).endswith("; not scanned to the end.")
    assert "Unreadable" not in [row.name for row in scan_sections(part)[0].rows]
    assert "1 min" in scan_summary(WHOLE.model_copy(update={"seconds": 119.0}))


def test_that_a_long_list_is_cut() -> None:
    sizes = tuple(Tally(name=str(number), count=1) for number in range(80))
    (_, section) = scan_sections(DataScan(is_complete=True, sizes=sizes))
    assert len(section.rows) == 51
    assert section.rows[-1].text == "30 more; the JSON names them"


def test_that_names_of_strangers_are_shown_as_escapes_in_a_report() -> None:
    odd = "\x1b[2J\udce9\u202e"
    report = DataScan(
        empty_classes=(odd,),
        sets=(ScannedSet(name="test", examples=1, labelled=1, class_counts=((odd, 1),)),),
    )
    assert report.empty_classes == (r"\x1b[2J\xe9\u202e",)
    assert DataScan.model_validate_json(report.model_dump_json()) == report
    assert "\x1b" not in json.dumps(report.model_dump(mode="json"), ensure_ascii=False)
    assert Fix.of(f"Leave out {odd}", "data.leave_out", [odd]).label == (
        r"Leave out \x1b[2J\xe9\u202e"
    )


def test_that_what_is_asked_follows_the_profile() -> None:
    asked = scan_request(Profile(data=ImagesData(path="/x"), task="train"))
    assert (asked.data, asked.task, asked.seed) == (
        ImagesData(path="/x"),
        "train",
        Profile().training.seed,
    )
    assert scan_request(Profile()).data == Profile().data
    assert isinstance(scan_request(Profile(data=DigitsData())).data, DigitsData)


def test_that_only_errors_keep_data_from_being_trained_on() -> None:
    assert not WHOLE.has_errors
    error = ODD.model_copy(update={"severity": Severity.ERROR})
    assert WHOLE.model_copy(update={"problems": (ODD, error)}).has_errors
    assert DataScan().target is Target.CLASSES
