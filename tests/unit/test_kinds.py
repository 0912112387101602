"""A kind of data, model or optimizer is one value, and what carries it out and writes it.

Of data and models each is found by the ``module`` of the value; optimizers by their traits.
"""

import ast
import inspect
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import ClassVar, Literal, get_args, get_type_hints

import pytest
from pydantic import BaseModel
from typing_extensions import override

from gpupanel.domain.asked_prediction import AskedColumn, PredictionAsked
from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.data import DataSettings
from gpupanel.domain.kind import KindValue, kind, kinds_of
from gpupanel.domain.layers import Stack
from gpupanel.domain.model import MlpModel, Model, ModelSettings
from gpupanel.domain.optimizer import Optimizer, OptimizerTraits
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.setting import setting, settings_of
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.data_section import SourceScript, script_of
from gpupanel.planning.script.model_section import BuiltText, ModelScript, script_of_model
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.trainer.datasets.scanning.scanned import OnFirstReport, Scanned
from gpupanel.trainer.datasets.source import Source, source_of
from tests.fakes.devices import CPU_ONLY
from tests.forked.processes import run_forked
from tests.unit.parsed_package import PACKAGE, nodes_of_package

SOURCES: tuple[type[KindValue], ...] = get_args(get_args(DataSettings)[0])
MODELS: tuple[type[KindValue], ...] = get_args(get_args(ModelSettings)[0])
MAY_NAME_A_SOURCE = (
    "domain/data.py",
    "domain/keras_data.py",
    "domain/table_data.py",
    "domain/text_data.py",
    "domain/tfrecord_data.py",
    "trainer/datasets/",
    "planning/script/sources/",
)
MAY_NAME_A_MODEL = ("domain/model.py", "trainer/models/", "planning/script/models/")

NAMED_ONLY = {each.__name__: each for each in (AskedColumn, PredictionAsked, Scanned)}
NAMED_ONLY["OnFirstReport"] = OnFirstReport
"""Types that the protocol of sources names, and does not import: few who read data need them."""


def hints_of(method: Callable[..., object]) -> dict[str, object]:
    """The types of arguments and result."""
    return get_type_hints(method, localns=NAMED_ONLY)


def one_of(values: type[KindValue]) -> KindValue:
    """One with defaults."""
    kinds = (*kinds_of(DataSettings), *kinds_of(ModelSettings))
    new: KindValue = next(kind for kind in kinds if kind.values is values).new()
    return new


def check_fit(found: type, protocol: type, values: type[KindValue], what: str) -> None:
    """Holds the class of what a file offers against the protocol."""
    assert protocol in found.__mro__
    assert found.__module__.endswith(f".{values.module}")
    offered = {name for name in vars(protocol) if not name.startswith("_")}
    own = {name for name in vars(found) if not name.startswith("_")}
    assert protocol.__abstractmethods__ <= own <= offered
    for name in own:
        method, offered_method = getattr(found, name), getattr(protocol, name)
        assert list(inspect.signature(method).parameters) == list(
            inspect.signature(offered_method).parameters
        )
        taken = hints_of(method)[what]
        assert values in (get_args(taken) or (taken,))
        assert hints_of(method)["return"] == hints_of(offered_method)["return"]


@pytest.mark.parametrize("values", SOURCES)
@pytest.mark.parametrize(("found_by", "protocol"), [(source_of, Source), (script_of, SourceScript)])
def test_that_each_source_has_its_files(
    values: type[KindValue], found_by: object, protocol: type
) -> None:
    assert callable(found_by)
    check_fit(type(found_by(one_of(values))), protocol, values, "data")


@pytest.mark.parametrize("values", MODELS)
def test_that_each_model_has_its_part_of_a_script(values: type[KindValue]) -> None:
    model = one_of(values)
    check_fit(type(script_of_model(model)), ModelScript, values, "model")


_NETWORKS = """
import keras
from tests.unit.test_kinds import MODELS, check_fit, one_of
from gpupanel.trainer.models.network import Network, network_of
from gpupanel.trainer.models.optimizers import FUSED, make_optimizer
from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.optimizer import Optimizer, OptimizerTraits
from gpupanel.domain.setting import setting
from gpupanel.domain.training import TrainingSettings
from tests.forked.processes import run_forked

for values in MODELS:
    check_fit(type(network_of(one_of(values))), Network, values, "model")
class Later(ChoiceEnum):
    NADAM = "nadam", "Nadam", "Adam with Nesterov momentum."
    ADAGRAD = "adagrad", "Adagrad", "Steps that become smaller."

    @property
    def traits(self):
        return OptimizerTraits(moments=1, takes=("epsilon",) if self is Later.ADAGRAD else ())


class LaterTraining(TrainingSettings):
    optimizer: Later = setting("Optimizer", "Those of a later version.", default=Later.NADAM)
    epsilon: float = setting("Epsilon", "Added to a divisor.", default=0.25)


made = make_optimizer(LaterTraining(learning_rate=0.5))
assert type(made) is keras.optimizers.Nadam
assert (float(made.learning_rate), made.name, made.epsilon) == (0.5, "nadam", 1e-7)
made = make_optimizer(LaterTraining(optimizer=Later.ADAGRAD))
assert (type(made), made.epsilon) == (keras.optimizers.Adagrad, 0.25)
assert set(FUSED) == {each.label for each in Optimizer if each.traits.is_fused}
for each in Optimizer:
    made = make_optimizer(TrainingSettings(optimizer=each, momentum=0.5))
    weight = keras.Variable([1.0, 2.0])
    made.build([weight])
    own = [slot for slot in made.variables if slot.shape == weight.shape]
    moments = each.traits.moments + each.traits.has_momentum
    assert len(own) == moments, (each, own)
    assert (made.weight_decay is not None) is each.traits.decays_weights, each
    assert type(made).__name__.removeprefix("Fused") == each.label
"""


@pytest.mark.tensorflow
def test_that_each_model_and_each_optimizer_is_made_by_keras() -> None:
    done = run_forked(
        [sys.executable, "-c", _NETWORKS],
        cwd=PACKAGE.parent,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]


class Later(ChoiceEnum):
    """Optimizers of a later version."""

    NADAM = "nadam", "Nadam", "Adam with Nesterov momentum."
    ADAGRAD = "adagrad", "Adagrad", "Steps that become smaller."

    @property
    def traits(self) -> OptimizerTraits:
        return OptimizerTraits(moments=1, takes=("epsilon",) if self is Later.ADAGRAD else ())


class LaterTraining(TrainingSettings):
    optimizer: Later = setting("Optimizer", "Those of a later version.", default=Later.NADAM)
    epsilon: float = setting("Epsilon", "Added to a divisor.", default=0.25)


class LaterModel(Model):
    """One whose layers are declared."""

    source: Literal["later"] = kind(Choice("later", "Later: two layers", "Of a later version."))
    width: int = setting("Width", "Of each layer.", default=3)
    module: ClassVar[str] = "layered"

    @property
    @override
    def stack(self) -> Stack:
        return Stack((), (self.width, self.width), 0.0, batch_norm=False)


def exported(**parts: object) -> str:
    profile = Profile(devices=DeviceSettings(visible=("cpu",)))
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    # Unchecked: the kinds of this test are none that a profile knows.
    return stand_alone_script(BaseModel.model_copy(profile, update=parts), plan)


def test_that_a_new_optimizer_is_exported_with_what_it_takes() -> None:
    assert "optimizer = keras.optimizers.Nadam(0.001)" in exported(training=LaterTraining())
    adagrad = LaterTraining(optimizer=Later.ADAGRAD, epsilon=0.5)
    assert "optimizer = keras.optimizers.Adagrad(0.001, epsilon=0.5)" in exported(training=adagrad)


def test_that_a_new_model_of_layers_is_chosen_and_exported_with_its_value_alone() -> None:
    (later,) = (each for each in kinds_of(MlpModel | LaterModel) if each.source == "later")
    assert (later.name, [each.name for each in settings_of(later.values)]) == ("Later", ["width"])
    text = exported(model=later.new(width=5))
    assert [line for line in text.splitlines() if 'Dense(5, name="dense_' in line][1:]


def test_that_a_new_model_is_built_and_exported_by_the_files_that_it_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class _Written:
        def built(self, model: Model, profile: Profile, plan: object) -> BuiltText:
            return BuiltText("", "later = 1", "keras.Sequential()")

    module = ModuleType("later")
    module.SCRIPT = _Written()
    monkeypatch.setitem(sys.modules, "gpupanel.planning.script.models.of_later", module)
    monkeypatch.setattr(LaterModel, "module", "of_later")
    text = exported(model=LaterModel())
    assert "    later = 1\n    model = keras.Sequential()\n" in text


def test_that_no_two_sources_share_a_file() -> None:
    assert len({values.module for values in SOURCES}) == len(SOURCES)


def test_that_no_module_is_there_without_a_kind() -> None:
    for folder, kinds in (("sources", SOURCES), ("models", MODELS)):
        there = {path.stem for path in (PACKAGE / "planning/script" / folder).glob("[!_]*.py")}
        assert there == {values.module for values in kinds}


@pytest.mark.parametrize(
    ("kinds", "allowed"), [(SOURCES, MAY_NAME_A_SOURCE), (MODELS, MAY_NAME_A_MODEL)]
)
def test_that_no_other_file_names_a_kind(
    kinds: tuple[type[KindValue], ...], allowed: tuple[str, ...]
) -> None:
    names = {values.__name__ for values in kinds}
    assert {path for path in importing(names) if not path.startswith(allowed)} == set()


def test_that_no_other_file_names_an_optimizer() -> None:
    names = {
        (path, node.attr)
        for path, nodes in nodes_of_package().items()
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == Optimizer.__name__
    }
    assert {path for path, _ in names} == {"domain/optimizer.py"}


def importing(names: set[str]) -> set[str]:
    """The files that import one of the names."""
    return {
        path
        for path, nodes in nodes_of_package().items()
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in names
    }
