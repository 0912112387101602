"""A notebook is the script in cells, whatever stands in its profile's name."""

import ast
import json
import re
from typing import Any

import pytest

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import DataSettings, DigitsData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import PythonModel
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.notebook import notebook
from gpupanel.planning.script.stand_alone import stand_alone_script
from tests.fakes.devices import CPU_ONLY
from tests.unit.planning.script.test_stand_alone import HOSTILE, ONE_OF_EACH, SAVED

AUGMENTED = DigitsData(augmentation=Augmentation(flip="both"))


def both(**parts: object) -> tuple[str, dict[str, Any]]:
    devices = DeviceSettings(visible=("cpu",), cpu_replicas=2)
    profile = Profile(devices=devices, **parts)
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    return stand_alone_script(profile, plan), json.loads(notebook(profile, plan))


def code_of(document: dict[str, Any]) -> list[str]:
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]


def assert_same_code(script: str, document: dict[str, Any]) -> None:
    title, *statements = ast.parse(script).body
    assert isinstance(title, ast.Expr)
    assert ast.unparse(statements) == ast.unparse(ast.parse("\n\n".join(code_of(document))))
    # Comments, too: only title and headings are elsewhere.
    headings = {f"# {line}" for line in headings_of(document)}
    kept = [line for line in script.split("\n")[1:] if line and line not in headings]
    assert kept == [line for code in code_of(document) for line in code.split("\n") if line]


def headings_of(document: dict[str, Any]) -> list[str]:
    texts = ["".join(cell["source"]) for cell in document["cells"]]
    return [text.removeprefix("## ") for text in texts if text.startswith("## ")]


@pytest.mark.parametrize("data", ONE_OF_EACH, ids=repr)
def test_that_the_cells_of_a_notebook_hold_the_code_of_the_script(data: DataSettings) -> None:
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED)
    assert_same_code(*both(data=data, strategy=mirrored))
    inference = InferenceSettings(batch_size=64)
    assert_same_code(*both(data=data, task="evaluate", model=SAVED, inference=inference))


def test_that_each_part_stands_under_its_heading() -> None:
    trained = ["Devices and strategy", "Data", "Model", "Training"]
    assert headings_of(both()[1]) == trained
    assert headings_of(both(data=AUGMENTED)[1]) == [*trained[:3], "Augmentation", "Training"]
    own = both(model=PythonModel(path="/model.py"))[1]
    assert headings_of(own) == [trained[0], "Python files of your own", *trained[1:]]
    evaluated = both(task="evaluate", model=SAVED, inference=InferenceSettings(batch_size=64))[1]
    assert headings_of(evaluated) == trained[:3]


def test_that_a_notebook_is_what_nbformat_4_5_says() -> None:
    _, document = both(data=AUGMENTED)
    assert document.keys() == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert document["metadata"]["kernelspec"]["name"] == "python3"
    common = {"cell_type", "id", "metadata", "source"}
    for cell in document["cells"]:
        is_code = cell["cell_type"] == "code"
        assert cell.keys() == (common | {"execution_count", "outputs"} if is_code else common)
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"])
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        assert not cell["source"][-1].endswith("\n")
    ids = [cell["id"] for cell in document["cells"]]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("hostile", [*HOSTILE, "<img src=http://x/y>", "![](http://x/y) `"])
def test_that_a_name_is_shown_as_it_is_and_not_rendered(hostile: str) -> None:
    _, document = both(name=hostile)
    title, *about = document["cells"][0]["source"]
    assert title.startswith("# ")
    assert title.endswith("\n")
    # Each mark of Markdown's and of HTML's is taken for itself (CommonMark, backslash escapes).
    assert not re.search(r"(?<!\\)(?:\\\\)*[<>\[\]!`*_$&:]", title[2:])
    assert title[:-1].isprintable()
    assert about == both(name="harmless")[1]["cells"][0]["source"][1:]


def test_that_a_notebook_of_what_cannot_start_is_refused() -> None:
    profile = Profile()
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    with pytest.raises(ProblemError):
        notebook(profile.model_copy(update={"task": "evaluate"}), plan)
