"""A run's report: everything of the run in one file, and nothing of a stranger's but text."""

import hashlib
import json
import os
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.data import NpzData, TableData
from gpupanel.domain.event_details import LogicalDeviceAnswer, ReplicaSpeed
from gpupanel.domain.events import (
    DataReady,
    DevicesReady,
    EpochDone,
    EvaluationDone,
    FindingReported,
    FineTuningBegan,
    ModelReady,
    Phase,
    ProblemReported,
    RunEnded,
    RunRestarted,
    RunStarted,
    SharesChosen,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.model import MlpModel, SavedModel
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.files.confusion_file import ConfusionCells, EvaluatedExamples, write_confusion
from gpupanel.files.label_metrics_file import write_label_metrics
from gpupanel.files.score_counts_file import ScoreCounts
from gpupanel.files.slices_file import ExampleSlices
from gpupanel.files.value_pairs_file import ValuePairs
from gpupanel.files.worst_file import WorstExamples, write_worst
from gpupanel.runs.following.value_pairs import BINS
from gpupanel.runs.history.label import change_label
from gpupanel.runs.report import fingerprints
from gpupanel.runs.report.markup import breakable
from gpupanel.runs.report.material import read_material
from gpupanel.runs.report.page import report_page
from gpupanel.runs.report.run_events import ReportCancelledError, read_events
from gpupanel.runs.report.style import STYLE
from gpupanel.trainer.inference.counted_scores import CountedScores
from tests.fakes import hostile_files
from tests.fakes.hostile_files import IN_PLACE_OF_A_FILE, Plant, put_in_place
from tests.fakes.run_directory import STARTED_S, WrittenRun

pytestmark = pytest.mark.timeout(120)

ON_CPU = DeviceSettings(visible=("cpu",), cpu_replicas=2)
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16))
TRAINED = Profile(
    name="a good name",
    devices=ON_CPU,
    strategy=MIRRORED,
    model=MlpModel(hidden=(32, 16)),
    training=TrainingSettings(epochs=4, seed=4711),
)
HOSTILE = "\"><script>alert(1)</script><img src=//x onerror=y>'&amp;\x1b]0;x\x07\u202e\x00"


class Elements(HTMLParser):
    """The elements of a page; one that is not closed where it should be is an error."""

    VOID = ("meta", "wbr")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "wbr":  # where a line may end, which names decide
            self.names.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(self.text)


def page_of(layout: RunLayout) -> str:
    return report_page(read_material(layout))


def trained(runs_dir: Path, profile: Profile = TRAINED) -> WrittenRun:
    run = WrittenRun(runs_dir, profile)
    run.begin()
    answer = LogicalDeviceAnswer(name="/device:CPU:0", device_key="cpu")
    run.write(
        DevicesReady(
            time_s=STARTED_S,
            tensorflow_version="2.21.7",
            python_version="3.11.99",
            gpupanel_version="0.9.9",
            logical_devices=(answer,),
        ),
        ModelReady(time_s=STARTED_S, parameters=9_610, trainable_parameters=9_000),
    )
    for epoch in (1, 2, 3, 4):
        for step in range(10 * epoch - 9, 10 * epoch + 1):
            run.write(
                StepsDone(
                    time_s=STARTED_S + step,
                    step=step,
                    steps=1,
                    epoch=epoch,
                    step_in_epoch=1 + (step - 1) % 10,
                    examples=64,
                    loss=2.0 / step,
                    accuracy=0.5,
                    learning_rate=0.01 / step,
                    examples_per_second=640.0,
                )
            )
        # The third is the best one.
        loss = (0.9, 0.8, 0.7123, 0.75)[epoch - 1]
        metrics = Metrics(loss=1.0 / epoch, accuracy=0.8, val_loss=loss, val_accuracy=0.9)
        step, time_s = 10 * epoch, STARTED_S + 10 * epoch
        run.write(EpochDone(time_s=time_s, epoch=epoch, step=step, metrics=metrics, seconds=1.0))
    return run


def ended(run: WrittenRun, problem: Problem | None = None) -> RunLayout:
    metrics = Metrics(loss=0.25, accuracy=0.8, val_loss=0.75, val_accuracy=0.9, test_loss=0.8125)
    outcome = Outcome.FAILED if problem else Outcome.COMPLETED
    run.write(
        RunEnded(
            time_s=STARTED_S + 75,
            outcome=outcome,
            metrics=metrics,
            problem=problem,
            examples_per_second=1_234.0,
        )
    )
    return run.layout


def test_that_a_report_says_what_a_training_was_and_reached(runs_dir: Path) -> None:
    layout = ended(trained(runs_dir))
    change_label(layout, name="the best one", notes="first line\nsecond line")
    layout.model.write_bytes(b"x" * 2_048)
    words = Elements(page_of(layout)).words
    for expected in (
        "the best one",
        "first line\nsecond line",
        layout.name,
        "completed",
        "1:15",  # took
        "1,234 ex/s",
        "9,610",
        "9,000 of them trained",
        "2.0 KiB",
        "0.7123",
        "epoch 3",  # when the validation was best
        "0.8125",  # of the test set
        "Hidden layers",
        "32, 16",
        "Optimizer",
        "4711",
        "2.21.7",
        "3.11.99",
        "0.9.9",
        "75.0 %",
        "/device:CPU:1",
        hashlib.sha256(layout.profile.read_bytes()).hexdigest(),
        hashlib.sha256(layout.plan.read_bytes()).hexdigest(),
    ):
        assert expected in words, expected


def test_that_a_report_says_which_columns_and_arrays_are_inputs_and_outputs(
    runs_dir: Path,
) -> None:
    for data, expected in (
        (
            TableData(path="/t.csv", inputs={"user": ["age", "city"], "item": ["price"]}),
            "user = age, city; item = price",
        ),
        (
            NpzData(path="/x.npz", outputs={"mask": "classes", "size": "values"}),
            "mask = classes, size = values",
        ),
    ):
        run = trained(runs_dir / data.source, TRAINED.model_copy(update={"data": data}))
        assert expected in Elements(page_of(ended(run))).words


def test_that_a_report_says_since_when_more_layers_learned(runs_dir: Path) -> None:
    run = trained(runs_dir)
    began = FineTuningBegan(
        time_s=STARTED_S, epoch=3, layers=30, trainable_parameters=9_500, learning_rate=1e-5
    )
    # Said again by whoever went on.
    run.write(began, began.model_copy(update={"learning_rate": 9e-6}))
    words = Elements(page_of(ended(run))).words
    assert "From epoch 3 on" in words
    assert began.words in words


def test_that_a_report_draws_loss_accuracy_learning_rate_and_speed(runs_dir: Path) -> None:
    page = page_of(ended(trained(runs_dir)))
    labels = [value for name, value in Elements(page).attributes if name == "aria-label"]
    assert labels == [
        "Loss over epoch",
        "Accuracy over epoch",
        "Learning rate over epoch",
        "Examples per second over epoch",
    ]
    assert page.count("<polyline") == 6


def test_that_a_report_needs_nothing_from_elsewhere_and_runs_nothing(runs_dir: Path) -> None:
    page = page_of(ended(trained(runs_dir)))
    found = Elements(page)
    assert not {"script", "img", "link", "iframe", "object", "embed", "a", "form", "base"} & set(
        found.names
    )
    names = {name for name, _ in found.attributes}
    assert not {"src", "href", "xlink:href", "srcset", "action"} & names
    assert not any(name.startswith("on") for name in names)
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_that_shares_measured_while_it_ran_stand_in_place_of_the_planned_ones(
    runs_dir: Path,
) -> None:
    run = trained(runs_dir)
    speeds = tuple(ReplicaSpeed(replica=at, examples_per_second=777.0 + at) for at in (0, 1))
    run.write(
        SharesChosen(time_s=STARTED_S, step=9, shares=(40, 24), speeds=speeds, reason="adjusted")
    )
    words = Elements(page_of(ended(run))).words
    assert "62.5 %" in words
    assert "778 ex/s" in words
    assert "75.0 %" not in words


def test_that_steps_done_again_after_a_resumption_stand_once(runs_dir: Path) -> None:
    run = trained(runs_dir)
    run.write(
        RunStarted(time_s=STARTED_S + 50, supervisor_pid=3),
        TrainingResumed(time_s=STARTED_S + 51, path="checkpoints/step-000000020", epoch=3, step=20),
    )
    run.write(
        StepsDone(
            time_s=STARTED_S + 52,
            step=21,
            steps=1,
            epoch=3,
            step_in_epoch=1,
            examples=64,
            loss=0.5,
            learning_rate=0.125,
            examples_per_second=640.0,
        )
    )
    found = read_events(run.layout)
    steps = [step for step, _ in found.rates]
    assert steps == list(range(1, 22))
    assert found.rates[-1] == (21, 0.125)


def test_that_problems_stand_in_a_report_that_which_ended_it_first(runs_dir: Path) -> None:
    run = trained(runs_dir)
    warned = Problem(code="w", severity=Severity.WARNING, message="Some are left out.", hint="See.")
    run.write(*[ProblemReported(time_s=STARTED_S, problem=warned)] * 3)
    layout = ended(run, Problem(code="e", message="It went wrong.", detail="the trace"))
    words = Elements(page_of(layout)).words
    assert words.index("It went wrong.") < words.index("Some are left out.")
    assert words.count("Some are left out.") == 1
    assert "the trace" in words
    assert "failed" in words


def test_that_what_held_a_training_up_stands_in_a_report_with_its_cost(runs_dir: Path) -> None:
    run = trained(runs_dir)
    problem = Problem(
        code="straggler", severity=Severity.HINT, message="Replica <1> is slow.", hint="Balance."
    )
    for cost in (0.9, 0.25):
        run.write(
            FindingReported(
                time_s=STARTED_S + 9,
                since_s=STARTED_S + 5,
                problem=problem,
                cost_fraction=cost,
                device_key="cpu",
            )
        )

    page = page_of(run.layout)

    assert page.count("Replica &lt;1&gt; is slow.") == 1
    assert "<h2>Findings" in page
    assert "about 25 % of the training" in page
    assert "<h2>Findings" not in page_of(trained(runs_dir).layout)


def test_that_a_run_that_was_started_again_says_so_and_why(runs_dir: Path) -> None:
    run = trained(runs_dir)
    lost = Problem(code="lost", message="A worker was killed.")
    run.write(RunRestarted(time_s=STARTED_S + 41, attempt=1, problem=lost))
    words = Elements(page_of(ended(run))).words
    assert "started again once" in words
    assert "A worker was killed." in words


def test_that_of_very_many_problems_the_rest_is_counted(runs_dir: Path) -> None:
    run = trained(runs_dir)
    run.write(
        *(
            ProblemReported(time_s=STARTED_S, problem=Problem(code="w", message=f"Number {at}."))
            for at in range(1_000)
        )
    )
    words = Elements(page_of(ended(run))).words
    assert "Number 99." in words
    assert "Number 100." not in words
    assert "and 900 more" in words


def test_that_a_run_that_goes_on_has_a_report_so_far(runs_dir: Path) -> None:
    with trained(runs_dir) as run:
        words = Elements(page_of(run.layout)).words
        assert "running" in words
        assert "0.7500" in words


def evaluated(runs_dir: Path, counts: list[list[int]], names: tuple[str, ...]) -> RunLayout:
    run = WrittenRun(
        runs_dir,
        Profile(name="e", task="evaluate", devices=ON_CPU, model=SavedModel(path="/m.keras")),
    )
    run.begin(Phase.EVALUATING)
    whole = np.asarray(counts)
    rows, columns = np.nonzero(whole)
    cells = ConfusionCells(rows, columns, whole[rows, columns], names)
    write_confusion(run.layout.confusion, cells)
    examples = int(whole.sum())
    metrics = Metrics(loss=0.5, accuracy=0.875)
    run.write(
        EvaluationDone(
            time_s=STARTED_S,
            examples=examples,
            metrics=metrics,
            class_count=len(names),
            confusion_file=run.layout.confusion.name,
        ),
        RunEnded(time_s=STARTED_S + 1, outcome=Outcome.COMPLETED, metrics=metrics),
    )
    return run.layout


def test_that_a_small_confusion_matrix_stands_in_full(runs_dir: Path) -> None:
    layout = evaluated(runs_dir, [[61, 3, 0], [0, 57, 0], [7, 0, 19]], ("cat", "dog", "eel"))
    page = page_of(layout)
    words = Elements(page).words
    assert [name in words for name in ("cat", "dog", "eel")] == [True] * 3
    for expected in ("61", "57", "19", "0.8750", "0.9531", "0.7308"):
        assert expected in words, expected
    assert page.count('style="--part:') == 9


def test_that_confidence_and_accuracy_stand_beside_each_other_where_they_are_known(
    runs_dir: Path,
) -> None:
    layout = evaluated(runs_dir, [[3, 1], [0, 0]], ("cat", "dog"))
    assert "Calibration" not in Elements(page_of(layout)).text
    places, labels = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    chances = np.float32([0.9, 0.9, 0.9, 0.65])
    outcomes = EvaluatedExamples(places, labels, np.int32([0, 0, 0, 1]), chances, chances)
    cells = ConfusionCells(np.array([0, 0]), np.array([0, 1]), np.array([3, 1]), ("cat", "dog"))
    write_confusion(layout.confusion, cells, outcomes)
    words = Elements(page_of(layout)).words
    # Three are right of 0.9 each, one is wrong of 0.65.
    assert "Calibration" in words
    assert "0.6 to 0.7" in words
    assert "0.6500" in words


def counted(chances: np.ndarray, true: np.ndarray) -> ScoreCounts:
    scores = CountedScores(chances.shape[1])
    scores.add(scores.of_classes(chances.astype(np.float32), true.astype(np.int64)))
    assert scores.counts is not None
    return scores.counts


def test_that_the_threshold_of_the_greatest_f1_stands_with_what_it_comes_to(runs_dir: Path) -> None:
    layout = evaluated(runs_dir, [[2, 0], [1, 1]], ("healthy", "ill"))
    assert "Thresholds" not in Elements(page_of(layout)).text
    second = np.array([0.125, 0.25, 0.375, 0.75])
    counts = counted(np.stack([1 - second, second], axis=1), np.array([0, 0, 1, 1]))
    rows, columns, cells = np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([2, 1, 1])
    confused = ConfusionCells(rows, columns, cells, ("healthy", "ill"))
    write_confusion(layout.confusion, confused, None, counts)
    words = Elements(page_of(layout)).words
    assert "Precision and recall of ill" in words
    # From above 0.25 up to 0.375 all are told apart.
    assert re.search(r"ill\s+0.31[0-9]\s+1.0000\s+1.0000\s+1.0000", words)


def test_that_of_many_classes_the_first_thresholds_stand_without_a_picture(runs_dir: Path) -> None:
    names = tuple(f"class_{number}" for number in range(30))
    layout = evaluated(runs_dir, np.eye(30, dtype=int).tolist(), names)
    cells = ConfusionCells(np.arange(30), np.arange(30), np.ones(30, np.int64), names)
    counts = counted(np.eye(30), np.arange(30))
    write_confusion(layout.confusion, cells, None, counts)
    page = page_of(layout)
    assert "These are the first 20 of 30." in Elements(page).words
    assert "Precision and recall of" not in page
    assert "class_<wbr>7" in page


def test_that_the_worst_and_the_best_value_of_each_column_stand_there(runs_dir: Path) -> None:
    layout = evaluated(runs_dir, [[500, 0], [0, 501]], ("cat", "dog"))
    slices = ExampleSlices(
        ("town", "id"),
        np.array([0, 0, 0, 1, 1]),
        ("Oslo", "Rome", "Rare", "below 7", "7 and more"),
        np.array([600, 400, 1, 1, 1_000]),
        np.array([0.75, 0.5, 0.0, 0.0, 1.0]),
        2,
    )
    cells = ConfusionCells(np.array([0, 1]), np.array([0, 1]), np.array([500, 501]), ("cat", "dog"))
    write_confusion(layout.confusion, cells, None, slices)
    words = " ".join(Elements(page_of(layout)).words.split())
    assert "town Rome Oslo 0.5000 400 0.7500 600" in words
    assert "it is 0.8750 for all examples" in words
    assert "Rare" not in words
    assert "7 and more" not in words  # there is nothing to compare it with


def test_that_names_in_narrow_columns_are_broken_between_their_parts_only() -> None:
    assert breakable("IMG_2024-a.b/c", 40) == "IMG_<wbr>2024-<wbr>a.<wbr>b/<wbr>c"
    assert breakable("-35.2 to below 2020-01-26", 40) == "-35.2 to below 2020-01-26"
    assert breakable("a<b>_&x", 40) == "a&lt;b&gt;_&amp;x"
    screen = STYLE.split("@media print {")[0]
    # "anywhere" lets a table make its columns as narrow as a letter: "nor" and "mal".
    assert re.findall(r"([.\w]+) {[^}]*overflow-wrap: anywhere", screen) == [".digest"]
    assert "minmax(0, 3fr)" in screen


def test_that_numbers_of_a_table_stay_whole_and_no_column_is_lost_on_paper() -> None:
    def declared(style: str, selector: str) -> dict[str, str]:
        found = re.findall(
            rf"(?:^|, ){re.escape(selector)}(?:, [^{{}}]*)? {{([^}}]*)}}", style, re.M
        )
        pairs = (each.split(":", 1) for each in ";".join(found).split(";") if each.strip())
        return {name.strip(): value.strip() for name, value in pairs}

    screen, paper = STYLE.split("@media print {")
    # Broken where the page lets long words break, "12,345" reads "12,3" and "45".
    assert declared(screen, ".heat tbody td")["white-space"] == "nowrap"
    assert declared(screen, ".number")["white-space"] == "nowrap"
    # Paper is not scrolled: 20 columns of a matrix fit, or a browser makes all smaller.
    paper = re.sub("^  ", "", paper, flags=re.M)
    assert declared(paper, ".scrolls")["overflow"] == "visible"
    assert declared(paper, ".heat tbody td")["min-width"] == "0"
    # Nor is anything on it opened.
    assert declared(paper, "details::details-content")["content-visibility"] == "visible"


def test_that_a_large_confusion_matrix_is_summarised(runs_dir: Path) -> None:
    size = 1_000
    counts = (np.eye(size, dtype=np.int64) * 5).tolist()
    counts[7][8] = 94
    page = page_of(evaluated(runs_dir, counts, tuple(f"class {at}" for at in range(size))))
    words = Elements(page).words
    assert "1,000 classes" in words
    assert words.index("class 7 ") < words.index("class 8 ") < words.index(" 94 ")
    assert "The 20 with the lowest recall, of 1,000" in words
    assert len(page) < 200_000


def test_that_several_labels_have_their_figures(runs_dir: Path) -> None:
    run = WrittenRun(
        runs_dir,
        Profile(name="e", task="evaluate", devices=ON_CPU, model=SavedModel(path="/m.keras")),
    )
    run.begin(Phase.EVALUATING)
    counts = np.asarray([[10, 20], [8, 25], [6, 18]])
    write_label_metrics(run.layout.confusion, ("red", "round"), counts)
    run.write(
        EvaluationDone(
            time_s=STARTED_S,
            examples=30,
            metrics=Metrics(loss=0.5),
            class_count=2,
            labels_file=run.layout.confusion.name,
        )
    )
    words = Elements(page_of(run.layout)).words
    assert "red" in words
    assert "0.7500" in words  # 6 of 8


def evaluated_values(runs_dir: Path, which: str | None, examples: int) -> str:
    run = WrittenRun(
        runs_dir,
        Profile(name="e", task="evaluate", devices=ON_CPU, model=SavedModel(path="/m.keras")),
    )
    run.begin(Phase.EVALUATING)
    run.write(
        DataReady(
            time_s=STARTED_S,
            training_examples=0,
            validation_examples=90_000,
            feature_shape=(8,),
            class_count=0,
            steps_per_epoch=0,
        )
    )
    true = np.arange(examples, dtype=np.float32)[:, np.newaxis]
    empty = np.zeros((0, 1), np.float32)
    worst = WorstExamples(np.zeros(0, np.int32), empty[:, 0], empty, empty)
    write_worst(run.layout.confusion, worst, ValuePairs(true, true + 0.5))
    metrics = Metrics(loss=5.5e8, mean_absolute_error=12_646.0)
    run.write(
        EvaluationDone(
            time_s=STARTED_S,
            examples=90_000,
            which=which,
            metrics=metrics,
            values_file=run.layout.confusion.name,
        )
    )
    run.write(RunEnded(time_s=STARTED_S + 1, outcome=Outcome.COMPLETED, metrics=metrics))
    return page_of(run.layout)


def test_that_values_are_drawn_and_it_is_said_how_far_they_are_off(runs_dir: Path) -> None:
    page = evaluated_values(runs_dir, "validation", 3_000)
    words = Elements(page).words
    assert "Off by, on average" in words
    assert "12,646" in words
    assert "Evaluated: /m.keras on 90,000 examples that training held out." in words
    assert "3,000 of 90,000 examples, chosen at random." in words
    assert page.count("h.01") == 1_500
    assert page.count('class="bin"') == BINS
    assert "Steps an epoch" not in words


def test_that_a_report_calls_examples_all_only_where_they_were(runs_dir: Path) -> None:
    assert "All examples" in Elements(evaluated_values(runs_dir / "a", "all", 3)).text
    older = Elements(evaluated_values(runs_dir / "b", None, 3)).text
    assert "All examples" not in older
    assert "Evaluated examples" in older


def test_that_the_fingerprint_of_files_is_of_their_content_alone(runs_dir: Path) -> None:
    def whole(times: int, digest: str = "d" * 64) -> str:
        files = [["a.png", 10, times, times, times, digest], ["b.png", 9, 1, 1, 1, "e" * 64]]
        document = {"schema_version": 1, "looked_ns": times, "arrays": [], "files": files}
        layout.data_fingerprint.write_text(json.dumps(document))
        found = [each for each in read_material(layout).fingerprints if each.name == "Data"]
        assert len(found) == 1
        assert found[0].note.startswith("2 files")
        return found[0].digest or found[0].problem

    layout = ended(trained(runs_dir))
    assert whole(1) == whole(2) != whole(2, "c" * 64)
    assert whole(1, "") == "not all of them were read"


def test_that_the_model_that_was_trained_further_has_a_fingerprint(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> str:
        names = [each.name for each in read_material(layout).fingerprints]
        place = names.index("Model that was trained further")
        of_model = read_material(layout).fingerprints[place]
        return of_model.digest or of_model.problem

    layout = ended(trained(runs_dir))
    layout.start_model.write_bytes(b"a model")
    assert found() == hashlib.sha256(b"a model").hexdigest()
    monkeypatch.setattr(fingerprints, "_MOST_MODEL_BYTES", 3)
    assert found() == "it is too large to be read here"
    layout.start_model.unlink()
    os.mkfifo(layout.start_model)
    assert found().startswith("it is ")


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'{"arrays":1}', b'{"files":[[1]]}', b"\xff", b"[" * 100_000]
)
def test_that_a_damaged_record_of_the_data_is_named(runs_dir: Path, content: bytes) -> None:
    layout = ended(trained(runs_dir))
    layout.data_fingerprint.write_bytes(content)
    assert "it is damaged" in Elements(page_of(layout)).words


def test_that_whatever_stands_in_a_run_is_text_in_its_report(runs_dir: Path) -> None:
    def written(text: str) -> str:
        profile = TRAINED.model_copy(update={"name": text})
        run = trained(runs_dir, profile)
        layout = run.layout
        plan = json.loads(layout.plan.read_text())
        plan["devices"][0]["name"] = text
        plan["replicas"][0]["logical_device"] = text
        layout.plan.write_text(json.dumps(plan))
        record = {"arrays": [{"name": text, "form": text, "digest": text}], "files": []}
        layout.data_fingerprint.write_text(json.dumps(record))
        change_label(layout, name=text, notes=text)
        problem = Problem(code="x", message=text, hint=text, detail=text)
        run.write(
            ProblemReported(time_s=STARTED_S, problem=problem),
            DevicesReady(
                time_s=STARTED_S,
                tensorflow_version=text,
                python_version=text,
                gpupanel_version=text,
                logical_devices=(),
            ),
            EvaluationDone(
                time_s=STARTED_S,
                examples=3,
                metrics=Metrics(),
                class_count=2,
                confusion=((1, 0), (1, 1)),
                class_names=(text, "b"),
            ),
        )
        return page_of(ended(run, problem))

    harmless, hostile = Elements(written("harmless")), Elements(page := written(HOSTILE))
    assert hostile.names == harmless.names
    assert [name for name, _ in hostile.attributes] == [name for name, _ in harmless.attributes]
    assert hostile.words.count("<script>alert(1)</script>") >= 12
    assert not {letter for letter in page if not letter.isprintable()} - {"\n"}
    page.encode()


def test_that_names_of_any_length_leave_a_page_of_bounded_size(runs_dir: Path) -> None:
    run = trained(runs_dir)
    plan = json.loads(run.layout.plan.read_text())
    # As much as a plan may hold.
    plan["devices"][0]["name"] = "n" * 60_000
    plan["devices"] *= 10
    plan["replicas"] = [{**plan["replicas"][0], "share": 0}] * 1_000 + plan["replicas"]
    run.layout.plan.write_text(json.dumps(plan))
    change_label(run.layout, notes="n" * 1_000_000)
    run.write(
        *(
            ProblemReported(
                time_s=STARTED_S,
                problem=Problem(code="x", message=f"{at}" + "m" * 20_000, detail="d" * 20_000),
            )
            for at in range(150)
        ),
        DataReady(
            time_s=STARTED_S,
            training_examples=2**62,
            validation_examples=1,
            feature_shape=(2**40,) * 254,
            steps_per_epoch=-(2**62),
        ),
    )
    page = page_of(ended(run))
    assert "and 938 more" in Elements(page).words
    assert len(page) < 2_500_000


PLANTED = [
    *(
        (name, plant)
        for name in (
            "events.jsonl",
            "profile.toml",
            "plan.json",
            "label.toml",
            "data.json",
            "evaluation.npz",
            "code/model.py",
            "model.keras",
        )
        for plant in IN_PLACE_OF_A_FILE.values()
    ),
    ("code", hostile_files.folder_link),
    ("code", hostile_files.fifo),
]


@pytest.mark.parametrize(("name", "plant"), PLANTED)
def test_that_what_is_no_file_of_the_runs_is_neither_read_nor_waited_for(
    runs_dir: Path, tmp_path: Path, name: str, plant: Plant
) -> None:
    secret = tmp_path / "home" / "model.py"
    secret.parent.mkdir()
    secret.write_text("the person's secret")
    digest = hashlib.sha256(secret.read_bytes()).hexdigest()
    layout = evaluated(runs_dir, [[3, 1], [0, 4]], ("cat", "dog"))
    if name.startswith("code/"):
        layout.code.mkdir()
    put_in_place(plant, layout.root / name, secret)
    page = page_of(layout)
    words = Elements(page).words
    assert "secret" not in words
    assert digest not in words
    assert "Reproducibility" in words


@pytest.mark.parametrize(
    "name", ["profile.toml", "plan.json", "label.toml", "data.json", "evaluation.npz"]
)
def test_that_a_file_of_terabytes_is_not_read(runs_dir: Path, name: str) -> None:
    layout = evaluated(runs_dir, [[3, 1], [0, 4]], ("cat", "dog"))
    with (layout.root / name).open("wb") as file:
        file.truncate(2**42)
    begin_s = time.monotonic()
    assert "Reproducibility" in page_of(layout)
    assert time.monotonic() - begin_s < 20.0


def test_that_events_without_end_are_read_for_a_bounded_time(runs_dir: Path) -> None:
    run = trained(runs_dir)
    with run.layout.events.open("ab") as file:
        file.truncate(2**40)
    begin_s = time.monotonic()
    found = read_events(run.layout, longest_s=0.2)
    assert time.monotonic() - begin_s < 20.0
    assert found.problems[0].code == "events_too_long"
    assert found.epochs == 4


def test_that_a_report_nobody_wants_any_more_is_given_up(runs_dir: Path) -> None:
    layout = ended(trained(runs_dir))
    with pytest.raises(ReportCancelledError):
        read_material(layout, lambda: True)


@pytest.mark.parametrize("name", ["profile.toml", "plan.json", "events.jsonl"])
def test_that_a_run_without_one_of_its_files_is_reported_as_far_as_it_goes(
    runs_dir: Path, name: str
) -> None:
    layout = ended(trained(runs_dir))
    (layout.root / name).unlink()
    os.utime(layout.profile if name != "profile.toml" else layout.plan, (1.0, 1.0))  # long ago
    words = Elements(page_of(layout)).words
    assert name in words
    assert "Reproducibility" in words


def test_that_the_terminal_writes_the_report_of_a_run(runs_dir: Path, tmp_path: Path) -> None:
    layout = ended(trained(runs_dir))
    path, named = tmp_path / "report.html", tmp_path / "named"
    done = CliRunner().invoke(app, ["export", layout.name, "-o", str(path), "--json"])
    assert json.loads(done.stdout) == {"report": str(path)}
    assert Elements(path.read_text()).words
    words = ["export", str(layout.root), "--format", "report", "-o", str(named)]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert named.read_text() == path.read_text()


def test_that_a_profile_has_no_report_and_a_link_is_not_replaced(
    runs_dir: Path, tmp_path: Path
) -> None:
    layout = ended(trained(runs_dir))
    path, kept = tmp_path / "report.html", tmp_path / "kept"
    refused = CliRunner().invoke(app, ["export", str(layout.profile), "-o", str(path), "--json"])
    assert json.loads(refused.stdout)["problems"][0]["code"] == "export_needs_run"
    kept.write_text("kept")
    path.symlink_to(kept)
    refused = CliRunner().invoke(app, ["export", layout.name, "-o", str(path), "--json"])
    assert json.loads(refused.stdout)["problems"][0]["code"] == "not_a_regular_file"
    assert kept.read_text() == "kept"
