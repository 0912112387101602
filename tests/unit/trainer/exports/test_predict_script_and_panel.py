"""``predict.py`` makes of a file what a prediction here does, or both refuse it."""

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import DataSettings, TableData
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.tables.recipe import TableRecipe
from gpupanel.trainer.exports import description, predict
from gpupanel.trainer.parts import text_layout
from gpupanel.trainer.parts.image_pixels import WantedPixels

TOWNS, KINDS = ("Köln", "Groß-Gerau", "Bonn"), ("None", "a")
TRAINED = "ort;x;art;y\n" + "".join(
    f"{TOWNS[n % 3]};{n},5;{KINDS[n % 2]};{('ja', 'nein')[n % 2]}\n" for n in range(30)
)


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Any]:
    """As it stands beside an export, without the package."""
    for path in (predict.__file__, text_layout.__file__):
        (tmp_path / Path(path).name).write_bytes(Path(path).read_bytes())
    spec = importlib.util.spec_from_file_location("predict_beside", tmp_path / "predict.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("text_layout", None)


@pytest.fixture
def trained(tmp_path: Path) -> tuple[DataSettings, str]:
    """A table in Windows-1252, and what is made of its columns."""
    path = tmp_path / "train.csv"
    path.write_bytes(TRAINED.encode("cp1252"))
    data = TableData(path=str(path), validation_fraction=0)
    return data, source_of(data).read(data, Reading(print)).recipe


def takes(data: DataSettings, recipe: str) -> dict[str, Any]:
    """What the file beside a model says that it takes."""
    made = TableRecipe.model_validate_json(recipe)
    found = description._input(data, None, made, (made.width,), "float32")
    answer: dict[str, Any] = json.loads(found.model_dump_json(exclude_none=True))
    return answer


def by_panel(data: DataSettings, recipe: str, path: Path) -> np.ndarray:
    other = data.model_copy(update={"path": str(path)})
    found = source_of(other).read_all(other, Reading(print, recipe=recipe), needs_labels=False)
    return np.asarray(found.features)


def by_script(script: Any, wanted: dict[str, Any], path: Path) -> np.ndarray:
    names = [each["name"] for each in wanted["columns"]]
    made = [
        script.features_of_row(cells, wanted, row)
        for row, cells in script.rows(path, names, wanted)
    ]
    return np.array(made)


NEW = "ort;x;art\nKöln;1,5;None\nBonn;-2,25;a\nGroß-Gerau; 3 ;NA\nKöln;;?\nRom;NA; \n"
WRITTEN = {
    "UTF-8": NEW.encode(),
    "UTF-8 with its mark": NEW.encode("utf-8-sig"),
    "UTF-16": NEW.encode("utf-16"),
    "Windows-1252": NEW.encode("cp1252"),
    "commas": 'ort,x,art\nKöln,"1,5",None\nBonn,"-2,25",a\n'.encode(),
    "tabs": NEW.replace(";", "\t").encode(),
    "lines before": f"# made by hand\n\n{NEW}".encode(),
    "quotation marks": 'ort;x;art\n"Köln";"1,5";"None"\n"Bo""nn";2;a\n"x\ny";3;a\n'.encode(),
    "decomposed": NEW.replace("ö", "o\u0308").encode(),
    "lines of old Macs": NEW.replace("\n", "\r").encode(),
    "lines of Windows": NEW.replace("\n", "\r\n").encode(),
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_that_a_file_is_read_alike_however_it_is_written(
    tmp_path: Path, script: Any, trained: tuple[DataSettings, str], written: bytes
) -> None:
    path = tmp_path / "new.csv"
    path.write_bytes(written)
    here = by_panel(*trained, path)
    there = by_script(script, takes(*trained), path)
    np.testing.assert_array_equal(there, here)
    assert here[0, :3].tolist() == [0, 0, 1]  # Bonn, Groß-Gerau, Köln


REFUSED = {
    "a digit group": "ort;x;art\nKöln;1_000;a\n",
    "a word": "ort;x;art\nKöln;many;a\n",
    "a cell too many": "ort;x;art\nKöln;1;a\nBonn;1;a;b\nBonn;2;a\n",
    "a column missing": "ort;art\nKöln;a\n",
    "zeros": "ort;x;art\nK\0ln;1;a\n",
    "names of columns alone": "ort;x;art\n",
    "names without an end of line": "ort;x;art",
    "nothing": "",
    "empty lines": "\n\n",
}


@pytest.mark.parametrize("written", REFUSED.values(), ids=REFUSED)
def test_that_what_the_panel_refuses_the_script_refuses(
    tmp_path: Path, script: Any, trained: tuple[DataSettings, str], written: str
) -> None:
    path = tmp_path / "new.csv"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(ProblemError):
        by_panel(*trained, path)
    with pytest.raises(SystemExit):
        by_script(script, takes(*trained), path)


def test_that_categories_are_named_that_training_did_not_know(
    tmp_path: Path, script: Any, trained: tuple[DataSettings, str]
) -> None:
    path = tmp_path / "new.csv"
    path.write_text(NEW + "Rom;1;b\nÖl\x1b;1;b\n")
    by_script(script, takes(*trained), path)
    town, kind = script.unknown_categories()
    assert 'Column "ort" holds "Rom", "Öl\x1b" in 3 rows, which training did not know' in town
    # What is empty is no category; what training knew as one is none that is unknown.
    assert 'Column "art" holds "b" in 2 rows' in kind


@pytest.mark.filterwarnings("error")
def test_that_numbers_too_large_for_a_model_are_read_alike(
    tmp_path: Path, script: Any, trained: tuple[DataSettings, str]
) -> None:
    path = tmp_path / "new.csv"
    path.write_text("ort;x;art\nBonn;1e39;a\nBonn;-1e39;a\nBonn;1e38;a\n")
    here = by_panel(*trained, path)
    np.testing.assert_array_equal(by_script(script, takes(*trained), path), here)


def test_that_what_a_person_said_of_the_file_holds_for_others(
    tmp_path: Path, script: Any, trained: tuple[DataSettings, str]
) -> None:
    data, recipe = trained
    data = data.model_copy(update={"delimiter": ";", "encoding": "cp1252"})
    path = tmp_path / "new.csv"
    path.write_bytes(NEW.encode())
    np.testing.assert_array_equal(
        by_script(script, takes(data, recipe), path), by_panel(data, recipe, path)
    )


def test_that_the_script_says_what_is_missing_beside_it(
    tmp_path: Path, script: Any, trained: tuple[DataSettings, str]
) -> None:
    (tmp_path / "text_layout.py").unlink()
    with pytest.raises(SystemExit, match="text_layout"):
        by_script(script, takes(*trained), tmp_path / "train.csv")


@pytest.mark.parametrize("white", [None, 100, 4095])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA", "PA", "P", "L", "1", "CMYK", "I;16"])
def test_that_pixels_of_every_mode_are_those_of_the_panel(
    tmp_path: Path, script: Any, mode: str, channels: int, white: int | None
) -> None:
    colours = np.random.default_rng(2).integers(0, 256, (13, 21, 4), np.uint8)
    shown = Image.fromarray(colours)
    if mode == "I;16":
        shown = Image.fromarray(colours[..., 0].astype(np.uint16) * 17)
    elif mode == "PA":  # a palette with a colour that is not shown
        shown = shown.convert("RGB").convert("P")
        shown.info["transparency"] = 3
    elif mode != "RGBA":
        shown = shown.convert("LA" if mode == "LA" else "RGB").convert(mode)
    path = tmp_path / ("x.tif" if mode == "CMYK" else "x.png")
    shown.save(path)
    image = {"height": 9, "width": 8, "channels": channels, "greatest": 255.0}
    found = script.features_of_image(
        path, image if white is None else {**image, "white_value": white}
    )
    files = ImageFiles((str(path),), WantedPixels((9, 8), channels, white=white))
    np.testing.assert_array_equal(found, files.read(np.zeros(1, np.int32))[0])


def test_that_colours_that_no_decoder_converts_are_refused_by_both(
    tmp_path: Path, script: Any
) -> None:
    path = tmp_path / "lab.tif"
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(path)
    content = path.read_bytes()
    # The photometric interpretation (tag 262) of RGB is 2, of CIE L*a*b* it is 8 (TIFF 6.0).
    colours = b"\x06\x01\x03\0\x01\0\0\0"
    path.write_bytes(content.replace(colours + b"\x02", colours + b"\x08"))
    image = {"height": 4, "width": 4, "channels": 1, "greatest": 255.0}
    with pytest.raises(SystemExit, match="is not an image that can be read"):
        script.features_of_image(path, image)
    with pytest.raises(ProblemError):
        ImageFiles((str(path),), WantedPixels((4, 4), 1)).read(np.zeros(1, np.int32))
