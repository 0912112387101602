"""Data sets of tensorflow-datasets: prepared ones without the package, others by it."""

import errno
import json
import logging
import os
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import Target, TfdsData
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import ScanRequest
from gpupanel.planning.script.data_section import data_section, script_of
from gpupanel.trainer.datasets.catalogue import bounded_requests, preparing
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.sources.tfds import SOURCE
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.tools.scan import scan
from tests.forked.processes import child_processes
from tests.unit.trainer.record_files import example, image, write_records

READING = Reading(lambda *_: None)
IMAGE = {"image": {"dtype": "uint8", "shape": {"dimensions": ["-1", "-1", "3"]}}}
CLASSES = {"classLabel": {"numClasses": "2"}}
WEIGHTS = {"tensor": {"dtype": "float32", "encoding": "none", "shape": {"dimensions": ["2", "3"]}}}
TEXT = {"text": {}, "pythonClassName": "tensorflow_datasets.core.features.text_feature.Text"}
FEATURES = {"image": IMAGE, "label": CLASSES, "weights": WEIGHTS, "id": TEXT}
NEEDS_TFDS = pytest.mark.skipif(
    not preparing.is_installed(),
    reason="tensorflow-datasets is not installed (the extra tfds)",
)


def make_prepared(
    folder: Path,
    splits: dict[str, int],
    features: dict[str, object] | None = None,
    names: str | None = "cat\ndog\n",
    **info: object,
) -> Path:
    """What tensorflow-datasets writes; example n is of brightness 10 n and class n % 2."""
    folder.mkdir(parents=True)
    described = {
        "name": "tiny_cats",
        "fileFormat": "tfrecord",
        "splits": [
            {"name": name, "shardLengths": [str(count)], "numBytes": "100"}
            for name, count in splits.items()
        ],
        "supervisedKeys": {"tuple": {"items": [{"featureKey": "image"}, {"featureKey": "label"}]}},
        "version": "1.0.0",
    }
    (folder / "dataset_info.json").write_text(json.dumps({**described, **info}))
    written = {"featuresDict": {"features": features or FEATURES}}
    (folder / "features.json").write_text(json.dumps(written))
    if names is not None:
        (folder / "label.labels.txt").write_text(names)
    first = 0
    for name, count in splits.items():
        records = [
            example(
                image=image(10 * number),
                label=number % 2,
                weights=[float(number)] * 6,
                id=b"number",
            )
            for number in range(first, first + count)
        ]
        write_records(folder / f"tiny_cats-{name}.tfrecord-00000-of-00001", records)
        first += count
    return folder


@pytest.fixture
def cats(tmp_path: Path) -> TfdsData:
    make_prepared(tmp_path / "tiny_cats/small/1.0.0", {"train": 6, "validation": 2, "test": 4})
    return TfdsData(name="tiny_cats/small", path=str(tmp_path), image_size=(4, 5))


def brightness(examples: Examples | None) -> list[int]:
    assert examples is not None
    images = examples.read(np.arange(len(examples), dtype=np.int32))
    return [int(each.mean()) for each in images]


def refused(data: TfdsData, reading: Reading = READING) -> Problem:
    with pytest.raises(ProblemError) as caught:
        SOURCE.read(data, reading)
    (problem,) = caught.value.problems
    assert problem.hint
    return problem


def test_that_a_prepared_set_is_read_with_its_splits_and_names(cats: TfdsData) -> None:
    found = SOURCE.read(cats, READING)

    assert found.class_names == ("cat", "dog")
    assert found.training.feature_shape == (4, 5, 3)
    assert brightness(found.training) == [0, 10, 20, 30, 40, 50]
    assert brightness(found.validation) == [60, 70]
    assert brightness(found.test) == [80, 90, 100, 110]
    assert found.training.labels.tolist() == [0, 1] * 3
    assert "tensorflow_datasets" not in sys.modules


def test_that_what_is_found_is_offered_and_taken(cats: TfdsData) -> None:
    seen = preview(PreviewRequest(data=cats))

    assert (seen.example_count, seen.validation_example_count, seen.test_example_count) == (6, 2, 4)
    assert seen.class_counts == (("cat", 3), ("dog", 3))
    shown = [choice.label for choice in seen.offers["validation_split"]]
    assert shown == ["None", "train: 6 examples", "validation: 2 examples", "test: 4 examples"]
    assert "weights: float32 2 x 3" in [choice.label for choice in seen.offers["features"]]
    chosen = with_detected(Profile(data=cats), seen).data
    assert isinstance(chosen, TfdsData)
    assert (chosen.validation_split, chosen.test_split) == ("validation", "test")
    assert (chosen.features, chosen.labels, chosen.predicts) == ("image", "label", Target.CLASSES)
    assert chosen.has_validation_set
    assert chosen.may_test


def test_that_splits_and_features_are_chosen(cats: TfdsData) -> None:
    chosen = cats.model_copy(
        update={
            "training_split": "test",
            "validation_split": "none",
            "test_split": "train",
            "features": "weights",
        }
    )
    found = SOURCE.read(chosen, READING)
    assert found.validation is None
    assert found.training.feature_shape == (2, 3)
    assert brightness(found.training) == [8, 9, 10, 11]
    assert brightness(found.test) == [0, 1, 2, 3, 4, 5]
    alike = cats.model_copy(update={"validation_split": "train"})
    assert refused(alike).code == "data_sets_alike"
    for key in ("training_split", "validation_split", "test_split"):
        problem = refused(cats.model_copy(update={key: "train[:80%]"}))
        assert (problem.code, problem.field) == ("tfds_split_missing", f"data.{key}")
        assert "train, validation, test" in problem.hint


def test_that_predicting_needs_no_labels(tmp_path: Path) -> None:
    make_prepared(tmp_path / "tiny_cats/1.0.0", {"test": 3})
    data = TfdsData(name="tiny_cats", path=str(tmp_path), training_split="test")
    found = SOURCE.read_all(data, READING, needs_labels=False)
    assert (len(found), found.class_names) == (3, ("cat", "dog"))


def test_that_the_newest_version_and_the_first_config_are_taken(tmp_path: Path) -> None:
    root = tmp_path / "tiny_cats"
    for number, version in enumerate(("1.9.0", "1.10.0", "0.99.0"), start=1):
        make_prepared(root / "small" / version, {"train": 2 * number})
    make_prepared(root / "big" / "1.0.0", {"train": 8})
    (root / "small" / "incomplete.AB_2.0.0").mkdir()
    data = TfdsData(name="tiny_cats", path=str(tmp_path))
    assert refused(data).code == "tfds_config_ambiguous"
    (root / ".config").mkdir()
    (root / ".config/metadata.json").write_text('{"defaultConfigName": "small"}')
    assert len(SOURCE.read(data, READING).training) == 4
    for name, count in (("tiny_cats/small:1.9.0", 2), ("tiny_cats/big", 8)):
        named = data.model_copy(update={"name": name})
        assert len(SOURCE.read(named, READING).training) == count


def test_that_the_data_folder_is_that_of_the_package(
    cats: TfdsData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFDS_DATA_DIR", cats.path)
    assert len(SOURCE.read(cats.model_copy(update={"path": ""}), READING).training) == 6


@pytest.mark.parametrize(
    "name",
    [
        "huggingface:glue",
        "kaggle:cats/dogs",
        "mnist/a=True,b=3",
        "../mnist",
        "mnist/../../etc",
        "mnist/..",
        "/etc",
        "mnist:*.*.*",
        "Mnist",
        "mnist\n",
        "mnist\0",
        "мнист",
        "\u202emnist",
        "a" * 70_000 + "!",
    ],
)
def test_that_names_that_would_run_code_or_lead_elsewhere_are_refused(
    tmp_path: Path, name: str
) -> None:
    problem = refused(TfdsData(name=name, path=str(tmp_path)))
    assert (problem.code, problem.field) == ("tfds_name_unknown", "data.name")
    assert len(problem.message) < 500
    assert list(tmp_path.iterdir()) == []


def test_that_no_class_that_a_folder_names_is_imported(
    cats: TfdsData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planted_class.py").write_text("raise SystemExit('was run')")
    monkeypatch.syspath_prepend(tmp_path)
    place = tmp_path / "tiny_cats/small/1.0.0/features.json"
    named = {key: {**each, "pythonClassName": "planted_class.X"} for key, each in FEATURES.items()}
    top = {"featuresDict": {"features": named}, "pythonClassName": "planted_class.X"}
    place.write_text(json.dumps(top))
    assert len(SOURCE.read(cats, READING).training) == 6
    assert "planted_class" not in sys.modules


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("dataset_info.json", b""),
        ("dataset_info.json", b"\xff{}"),
        ("dataset_info.json", b"[" * 100_000),
        ("dataset_info.json", b'{"name": 4}'),
        ("dataset_info.json", b'{"name": "' + b"x" * (17 * 2**20)),
        ("features.json", b'{"featuresDict": {"features": []}}'),
        ("features.json", None),
    ],
)
def test_that_damaged_descriptions_are_reported(
    cats: TfdsData, tmp_path: Path, file: str, content: bytes | None
) -> None:
    place = tmp_path / "tiny_cats/small/1.0.0" / file
    place.unlink()
    if content is None:
        os.mkfifo(place)
    else:
        place.write_bytes(content)
    problem = refused(cats)
    assert problem.code == "data_file_damaged"
    assert len(problem.detail) < 10_000


@pytest.mark.parametrize(
    "template", ["../{SHARD_X_OF_Y}", "{DATASET}/{SHARD_X_OF_Y}", "{ODD}-{SHARD_INDEX}", "plain"]
)
def test_that_files_elsewhere_are_not_read(tmp_path: Path, template: str) -> None:
    split = {"name": "train", "shardLengths": ["2"], "filepathTemplate": template}
    folder = make_prepared(tmp_path / "tiny_cats/1.0.0", {"train": 2})
    described = json.loads((folder / "dataset_info.json").read_text())
    (folder / "dataset_info.json").write_text(json.dumps({**described, "splits": [split]}))
    assert refused(TfdsData(name="tiny_cats", path=str(tmp_path))).code == "data_file_damaged"


def test_that_what_cannot_be_read_of_a_set_is_said(tmp_path: Path) -> None:
    texts = {"items": [{"featureKey": "id"}, {"featureKey": "label"}]}
    make_prepared(tmp_path / "texts/1.0.0", {"train": 2}, supervisedKeys={"tuple": texts})
    make_prepared(tmp_path / "packed/1.0.0", {"train": 2}, fileFormat="array_record")
    data = TfdsData(name="texts", path=str(tmp_path))
    problem = refused(data)
    assert (problem.code, problem.field) == ("tfds_feature_unused", "data.features")
    assert "Text" in problem.message
    problem = refused(data.model_copy(update={"labels": "odd"}))
    assert problem.field in ("data.features", "data.labels")
    assert refused(data.model_copy(update={"name": "packed"})).code == "tfds_file_format"


@pytest.mark.parametrize("names", [None, "cat\n", "cat\ncat\n"])
def test_that_classes_without_names_are_numbered(tmp_path: Path, names: str | None) -> None:
    make_prepared(tmp_path / "tiny_cats/1.0.0", {"train": 4}, names=names)
    found = SOURCE.read(TfdsData(name="tiny_cats", path=str(tmp_path)), READING)
    assert found.class_names == ("0", "1")


def test_that_a_problem_with_the_records_names_a_setting_that_is_there(
    cats: TfdsData, tmp_path: Path
) -> None:
    folder = tmp_path / "tiny_cats/small/1.0.0"
    (folder / "tiny_cats-validation.tfrecord-00000-of-00001").unlink()
    problem = refused(cats)
    assert (problem.code, problem.field) == ("data_file_missing", "data.validation_split")


def test_that_who_only_looks_prepares_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "is_installed", lambda: True)
    monkeypatch.setattr(preparing, "PREPARE_COMMAND", ("/nowhere",))
    data = TfdsData(name="mnist", path=str(tmp_path / "data"))
    for problems in (
        preview(PreviewRequest(data=data)).problems,
        scan(ScanRequest(data=data)).problems,
    ):
        (problem,) = problems
        assert (problem.code, problem.is_error) == ("tfds_not_prepared", False)
    assert not (tmp_path / "data").exists()


def test_that_without_the_package_its_command_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "is_installed", lambda: False)
    problem = refused(TfdsData(name="mnist", path=str(tmp_path)))
    assert (problem.code, problem.command) == (
        "tfds_not_installed",
        'pip install "gpupanel[tfds]"',
    )


@pytest.fixture
def tiny_catalogue(monkeypatch: pytest.MonkeyPatch) -> Callable[..., TfdsData]:
    """Has the test's own data sets prepared where those of the catalogue would be."""
    script = Path(__file__).with_name("prepare_tiny_catalogue.py")
    monkeypatch.setattr(preparing, "PREPARE_COMMAND", (sys.executable, "-P", str(script)))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    return lambda name, folder: TfdsData(name=name, path=str(folder), image_size=(4, 5))


@NEEDS_TFDS
@pytest.mark.tensorflow
@pytest.mark.long
def test_that_a_set_is_prepared_once_and_read_as_the_package_reads_it(
    tmp_path: Path, tiny_catalogue: Callable[..., TfdsData]
) -> None:
    data, heard = tiny_catalogue("tiny_cats", tmp_path / "data"), []
    reading = Reading(lambda *how: heard.append(how))
    found: list[object] = []
    # As the processes of a gang do.
    threads = [
        threading.Thread(target=lambda: found.append(SOURCE.read(data, reading))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    one, other = found
    assert heard[0] == ("tiny_cats", 0, None)
    assert max(done for _, done, _ in heard) > 0
    assert one.class_names == ("cat", "dog")
    # The package shuffles what it prepares, always alike.
    assert sorted(brightness(one.training)) == [10 * number for number in range(12)]
    assert brightness(other.training) == brightness(one.training)
    assert one.training.labels.tolist() == [value // 10 % 2 for value in brightness(one.training)]
    assert len(one.test) == 4
    again = Reading(lambda *_: pytest.fail("it is here"))
    assert len(SOURCE.read(data, again).training) == 12


@NEEDS_TFDS
@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_a_script_reads_a_prepared_set_by_the_package_and_finds_the_same(
    tmp_path: Path, tiny_catalogue: Callable[..., TfdsData]
) -> None:
    data = tiny_catalogue("tiny_cats", tmp_path / "data")
    found = SOURCE.read(data, READING)
    seen = preview(PreviewRequest(data=data))
    assert isinstance(seen, DataPreview)
    check_script(with_detected(Profile(data=data), seen).data, found, tmp_path / "script.npz")


_SCRIPT = """
import os, sys
import numpy as np
SEED = 3
sys.path.insert(0, {here!r})
import prepare_tiny_catalogue
{read}
np.savez({place!r}, x=x, y=y, x_test=x_test, y_test=y_test, class_names=class_names)
"""


def check_script(data: object, found: object, place: Path) -> None:
    """A script's own reading, by the package, holds the same."""
    read = f"{data_section(data)}\n{script_of(data).class_names(data)}"
    text = _SCRIPT.format(here=str(Path(__file__).parent), read=read, place=str(place))
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    script = np.load(place)
    for part, examples in (("", found.training), ("_test", found.test)):
        read = examples.read(np.arange(len(examples), dtype=np.int32))
        assert np.array_equal(np.asarray(script[f"x{part}"]), read)
        assert np.array_equal(np.asarray(script[f"y{part}"]), examples.labels)
    assert tuple(script["class_names"]) == found.class_names


@NEEDS_TFDS
@pytest.mark.slow
def test_that_a_set_that_is_unknown_or_cannot_be_reached_is_said(
    tmp_path: Path, tiny_catalogue: Callable[..., TfdsData]
) -> None:
    problem = refused(tiny_catalogue("tiny_catz", tmp_path))
    assert problem.code == "tfds_name_unknown"
    assert "tiny_cats" in problem.hint
    problem = refused(tiny_catalogue("unreachable", tmp_path))
    assert problem.code == "data_download_failed"
    assert "ConnectionError: Max retries exceeded" in problem.message
    problem = refused(tiny_catalogue("tiny_cats:9.9.9", tmp_path))
    assert problem.code == "data_download_failed"


@pytest.mark.slow
@NEEDS_TFDS
def test_that_a_stop_ends_the_preparing_and_leaves_nothing_half_done(
    tmp_path: Path, tiny_catalogue: Callable[..., TfdsData]
) -> None:
    class StoppedError(Exception):
        """Somebody asked to stop."""

    def stop(_name: str, _done: int, _total: int | None) -> None:
        if list(tmp_path.glob("endless/*incomplete*")) or list(tmp_path.glob("endless/*/*incom*")):
            raise StoppedError

    began = time.monotonic()
    with pytest.raises(StoppedError):
        SOURCE.read(tiny_catalogue("endless", tmp_path), Reading(stop))

    assert time.monotonic() - began < 60
    assert not [each for each in child_processes() if "prepare_tiny" in str(each)]
    assert not list(tmp_path.glob("endless/*incomplete*"))


class _BadServer(BaseHTTPRequestHandler):
    """Says nothing, breaks off, sends another file, or sends the reader to a file of its own."""

    def do_GET(self) -> None:
        kind = self.path.strip("/")
        if kind == "silent":
            self.server.over.wait(60)  # type: ignore[attr-defined]
            return
        self.send_response(302 if kind == "elsewhere" else 200)
        if kind == "elsewhere":
            self.send_header("Location", "file:///etc/passwd")
        elif kind == "broken":
            self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"evil")

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def bad_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _BadServer) as server:
        server.over = threading.Event()  # type: ignore[attr-defined]
        server.daemon_threads = False  # its threads end before the test does
        serving = threading.Thread(target=server.serve_forever, args=(0.05,))
        serving.start()
        monkeypatch.setenv("TINY_SERVER", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("TINY_SILENT_S", "0.3")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield
        server.over.set()  # type: ignore[attr-defined]
        server.shutdown()
        serving.join()


@NEEDS_TFDS
def test_that_no_server_is_waited_for_without_end(
    bad_server: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "urllib3")  # which says that it tries again
    import requests
    from requests.adapters import HTTPAdapter

    monkeypatch.setattr(HTTPAdapter, "send", HTTPAdapter.send)
    monkeypatch.setattr(bounded_requests, "SILENT_S", 0.02)
    bounded_requests.bound_requests()
    with requests.Session() as session:
        # As the package has it.
        retry = requests.packages.urllib3.util.retry.Retry(total=10, raise_on_redirect=True)
        session.mount("http://", HTTPAdapter(max_retries=retry))
        began_s = time.monotonic()
        with pytest.raises(requests.ConnectionError, match="timed out"):
            session.get(f"{os.environ['TINY_SERVER']}/silent", stream=True)
        assert time.monotonic() - began_s < 20.0


@NEEDS_TFDS
@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "code", "words"),
    [
        ("silent", "data_download_failed", "timed out"),
        ("altered", "data_download_damaged", "checksum"),
        ("broken", "data_download_failed", "IncompleteRead"),
        ("elsewhere", "data_download_failed", "file:///"),
    ],
)
@pytest.mark.usefixtures("bad_server")
def test_that_a_bad_server_neither_holds_a_run_nor_leaves_anything(
    tmp_path: Path,
    tiny_catalogue: Callable[..., TfdsData],
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    code: str,
    words: str,
) -> None:
    monkeypatch.setenv("TINY_FILE", file)
    of_others = tmp_path / "downloads" / "of_server" / f"x.tmp.{'0' * 32}"
    of_others.mkdir(parents=True)
    began_s = time.monotonic()
    problem = refused(tiny_catalogue("of_server", tmp_path))
    assert time.monotonic() - began_s < 50.0
    assert problem.code == code
    assert words in problem.message
    # What another process downloads there meanwhile, or has left, stays.
    assert [each for each in tmp_path.rglob("*.tmp.*") if each.is_dir()] == [of_others]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/data/x"), "no_space"),
        # As the package has it of an archive, and as a server has it of itself.
        (RuntimeError("Error while extracting a: [Errno 28] No space left on device"), "no_space"),
        (ConnectionError("[Errno 110] Connection timed out"), "data_download_failed"),
        (RuntimeError("x" * 100_000), "data_download_failed"),
    ],
)
def test_that_a_full_disk_is_said_and_is_no_missing_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Exception, code: str
) -> None:
    class Builder:
        def __init__(self, **_: object) -> None:
            raise said

    package = types.ModuleType("tensorflow_datasets")
    package.disable_progress_bar = lambda: None  # type: ignore[attr-defined]
    package.builder_cls = lambda _: Builder  # type: ignore[attr-defined]
    package.core = types.SimpleNamespace(DatasetNotFoundError=LookupError)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", package)
    with pytest.raises(ProblemError) as caught:
        preparing.prepare("tiny_cats", tmp_path)
    (problem,) = caught.value.problems
    assert problem.code == code
    assert problem.hint
    assert len(problem.detail) < 20_000
