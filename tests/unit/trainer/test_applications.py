"""Architectures of Keras's with a head: built, frozen, begun with weights, saved."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.applications import APPLICATIONS
from tests.forked.processes import run_forked

LARGE = ("EfficientNetV2L", "EfficientNetB7", "NASNetLarge", "ConvNeXtXLarge", "ConvNeXtLarge")
"""Need gigabytes, several times."""


def built(folder: Path, *arguments: str) -> dict[str, Any]:
    script = Path(__file__).with_name("built_applications.py")
    command = [sys.executable, str(script), str(folder), *arguments]
    done = run_forked(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return built(tmp_path_factory.mktemp("first"), "--details", "MobileNetV3Small")


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_the_saved_model_gives_what_the_trained_one_gives(first: dict[str, Any]) -> None:
    assert first["difference"] == 0.0
    assert first["grey"] == 0.0


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_only_layers_that_are_not_frozen_learn(first: dict[str, Any]) -> None:
    whole, head, last, two, more = first["learning"]
    assert head == 2  # a kernel and a bias
    assert head < last < two < whole
    assert more == whole


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("kind", ["base", "whole"])
def test_that_weights_of_a_file_are_taken(first: dict[str, Any], kind: str) -> None:
    assert first["weights"][kind] is True


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_weights_of_another_network_are_refused(first: dict[str, Any]) -> None:
    assert first["weights"]["other"] == "weights_do_not_fit"


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("name", [each.name for each in APPLICATIONS if each.name not in LARGE])
def test_that_every_architecture_is_built_and_saved(tmp_path: Path, name: str) -> None:
    assert built(tmp_path, name)["difference"] < 1e-6


def keras_sources() -> dict[str, str]:
    """The files of ``keras.applications`` that is installed, read and not imported."""
    (folder,) = (
        Path(place) / "keras" / "src" / "applications"
        for place in sys.path
        if (Path(place) / "keras" / "src" / "applications").is_dir()
    )
    texts = {file.stem: file.read_text(encoding="utf-8") for file in folder.glob("*.py")}
    # A text that is written in two parts is one.
    return {name: re.sub(r'"\s+f?"', "", text) for name, text in texts.items()}


def test_that_what_is_said_of_an_architecture_is_what_keras_says() -> None:
    sources = keras_sources()
    exported = re.findall(r'"keras\.applications\.(\w+)"', "".join(sources.values()))
    functions = {name for name in exported if name[0].isupper()}
    assert {each.name for each in APPLICATIONS} == functions
    for each in APPLICATIONS:
        module = each.family.module
        source = sources["resnet" if module == "resnet_v2" else module]
        assert f"keras.applications.{module}.preprocess_input" in "".join(sources.values())
        assert each.digest in source
        assert each.family.folder in source
        (least,) = re.findall(r"min_size=(\d+)", source) or re.findall(r"at least (\d+)x", source)
        assert each.family.least_side == int(least)
