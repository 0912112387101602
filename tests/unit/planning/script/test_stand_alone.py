"""Every profile that may start is a script that Python reads, whatever stands in its names.

That the scripts train as runs do is seen in ``tests/sessions``.
"""

import ast
import builtins
import itertools
import symtable
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import (
    DataCache,
    DataSettings,
    DigitsData,
    ImagesData,
    KerasData,
    NpzData,
    PythonData,
    TableData,
    Target,
    TextData,
    TfdsData,
    TfrecordData,
    WineData,
)
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import (
    CnnModel,
    Head,
    Inputs,
    MlpModel,
    ModelSettings,
    PythonModel,
    SavedModel,
)
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.schedule import ScheduleKind, ScheduleSettings
from gpupanel.domain.script_parts import part_text
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import Loss, TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from tests.fakes.devices import CPU_ONLY
from tests.unit.parsed_package import PACKAGE

EVERY_SOURCE: list[DataSettings] = [
    DigitsData(validation_fraction=0.25, shuffle=False),
    DigitsData(),
    DigitsData(oversample=True, augmentation=Augmentation(flip="both", zoom=0.2, mixup=0.1)),
    DigitsData(oversample=True, shuffle=False, augmentation=Augmentation(cutout=0.1)),
    WineData(validation_fraction=0.2),
    WineData(class_weights={"1": 2.0, "it's $x": 0.5}),
    WineData(validation_fraction=0.2, stratify=True),
    WineData(validation_fraction=0.2, holdout="last"),
    KerasData(source="mnist"),
    KerasData(source="cifar10", validation_fraction=0.1),
    KerasData(source="imdb"),
    KerasData(source="reuters", validation_fraction=0.0),
    KerasData(source="boston_housing"),
    NpzData(path="/data/it's.npz", class_count=7),
    NpzData(path="/data/x.npz"),
    NpzData(path="/data/x.npz", predicts=Target.LABELS, validation_fraction=0.1),
    NpzData(path="/data/x.npz", predicts=Target.VALUES, features="a", labels="b"),
    NpzData(
        path="/data/x_train.npz",
        features="x_train",
        labels="y_train",
        test_features="x_test",
        test_labels="y_test",
        predicts=Target.CLASSES,
    ),
    NpzData(path="/data/x_train.npy", labels="y_train", predicts=Target.VALUES),
    TableData(path="/data/t.csv", target=("a", "b"), predicts=Target.VALUES, delimiter=";"),
    TableData(path="/data/t.parquet", target="it's", group="g", validation_fraction=0.1),
    TableData(path="/data/t.tsv", target="y", validation_path="/v.parquet", test_path="/t.csv"),
    NpzData(path="/data/x.npz", validation_path="/data/val.npz", test_path="/data/x_test.npy"),
    NpzData(path="/data/x.npz", validation_features="x_val", validation_labels="y_val"),
    NpzData(path="/data/x.npz", axes="channels_first", test_features="a", test_labels="b"),
    ImagesData(path="/data/images", white_value=4095),
    ImagesData(path="/data/images", white_value=15),
    ImagesData(path="/data/images", white_value=15, decode="fast"),
    ImagesData(path="/data/images"),
    ImagesData(path="/data/images", leave_out=("eel's", "cat")),
    ImagesData(path="/data/images", files=("eel's.png", "cat/1.png")),
    ImagesData(path="/data/images", labels_csv="/data/images/labels.csv", predicts=Target.LABELS),
    ImagesData(path="/data", labels_csv="/l.csv", validation_path="/v", predicts=Target.VALUES),
    ImagesData(path="/data", labels_csv="/data/l.csv", validation_path="/v", test_path="/t"),
    ImagesData(
        path="/data/images",
        color="grayscale",
        image_size=(32, 48),
        cache=DataCache.NONE,
        validation_fraction=0.5,
    ),
    ImagesData(path="/data/images", validation_path="/data/more", test_path="/data/test"),
    ImagesData(path="/data/images", test_path="/data/test", validation_fraction=0.2),
    TextData(path="/data/texts", validation_fraction=0.2),
    TextData(path="/data/texts", test_path="/data/test", encoding="cp1252"),
    TextData(path="/t.csv", text="it's", target="y", predicts=Target.CLASSES, delimiter=";"),
    TextData(path="/t.csv", target=("a", "b"), predicts=Target.LABELS, validation_path="/v.csv"),
    TextData(path="/t.parquet", predicts=Target.VALUES, target="y"),
    TextData(path="/t.parquet", target="y", header="none", test_path="/e.parquet"),
    TextData(path="/t.parquet", text="a", target="y", test_path="/e.csv"),
    TfdsData(name="mnist", validation_fraction=0.2),
    TfdsData(name="mnist:3.0.1", path="/t", validation_split="test", test_split="none"),
    TfdsData(name="it's", test_split="test", predicts=Target.VALUES, features="a", labels="b"),
    TfdsData(name="tags", predicts=Target.LABELS),
    TfrecordData(path="/data/train*.tfrecord", validation_fraction=0.2),
    TfrecordData(path="/data/t", features="it's", labels="b", predicts=Target.VALUES, shape=(2, 3)),
    TfrecordData(path="/t", predicts=Target.LABELS, shape_features=("h", "w"), raw_type="int16"),
    TfrecordData(path="/t", validation_path="/v", test_path="/e", color="grayscale"),
    TfrecordData(path="/t", validation_path="/v", predicts=Target.CLASSES, class_count=3),
    PythonData(path="/data/data.py"),
    PythonData(path="/data/data.py", predicts=Target.VALUES, validation_fraction=0.5),
    PythonData(path="/data/data.py", predicts=Target.LABELS),
]
ONE_OF_EACH = list({type(data): data for data in EVERY_SOURCE}.values())
EVERY_SOURCE_MARKED = [
    pytest.param(data, marks=() if data in ONE_OF_EACH else pytest.mark.long)
    for data in EVERY_SOURCE
]
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16))
SAVED = SavedModel(path="/models/model.keras")
HOSTILE = (
    '"""; import os; os.remove("x")  # \\',
    "'''\"\"\"\\",
    "a\nimport os\nos.remove('x')",
    "a\r\n\x00\x1b]0;x\x07\x85\u2028\u2029",
    "\u202eabc\u2066\u200f",
    "{x} $x ${x} %s $$",
)
SURROGATE = "\udcff\\"
"""As a folder whose name is not UTF-8 comes into the paths of a profile."""


def made(
    strategy: StrategySettings = MIRRORED, replicas: int = 2, **parts: object
) -> tuple[Profile, str]:
    devices = DeviceSettings(visible=("cpu",), cpu_replicas=replicas)
    profile = Profile(devices=devices, strategy=strategy, **parts)
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    text = stand_alone_script(profile, plan)
    assert_all_names_are_bound(text)
    return profile, text


def script(strategy: StrategySettings = MIRRORED, replicas: int = 2, **parts: object) -> str:
    return made(strategy, replicas, **parts)[1]


@cache  # what a session does not need changes nothing: many scripts are the same
def assert_all_names_are_bound(text: str) -> None:
    lines = text.split("\n")
    found = [
        names_of("\n".join(lines[first_line(each) - 1 : each.end_lineno]))
        for each in ast.parse(text).body
    ]
    bound = {name for each in found for name in each.bound}
    used = {name for each in found for name in each.used}
    assert used - bound - {"__file__", "__name__"} <= set(dir(builtins))
    counts = Counter(name for each in found for name in each.at_the_top)
    assert [name for name in NAMES_OF_PARTS if counts[name] > 1] == []


@dataclass(frozen=True)
class Names:
    """Of one statement of a script that is in no other.

    Attributes:
        bound: What the whole script knows by it.
        used: What the whole script has to know for it.
        at_the_top: See :func:`bound_at_the_top`.
    """

    bound: frozenset[str]
    used: frozenset[str]
    at_the_top: tuple[str, ...]


def first_line(statement: ast.stmt) -> int:
    return min(each.lineno for each in (statement, *getattr(statement, "decorator_list", ())))


@cache  # most statements are those of parts, and alike in all scripts
def names_of(statement: str) -> Names:
    tree = ast.parse(statement)
    compile(tree, "script.py", "exec")
    module = symtable.symtable(statement, "script", "exec")
    bound = {
        symbol.get_name()
        for symbol in module.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }
    tables, used = [module], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        used |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (table is module or symbol.is_global())
        }
    return Names(frozenset(bound), frozenset(used), tuple(bound_at_the_top(tree)))


COMPREHENSIONS = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def bound_at_the_top(node: ast.AST) -> Iterator[str]:
    """What is defined or given a value outside of functions, as often as it is."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield child.name
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif not isinstance(child, COMPREHENSIONS):
            yield from bound_at_the_top(child)


PARTS = (path.stem for path in (PACKAGE / "trainer/parts").glob("*.py"))
NAMES_OF_PARTS = {name for part in PARTS for name in bound_at_the_top(ast.parse(part_text(part)))}
"""A script that gives one of them another value would break what the part does with it."""


@pytest.mark.parametrize("data", EVERY_SOURCE_MARKED, ids=repr)
def test_that_every_source_makes_a_script_whose_names_are_all_bound(data: DataSettings) -> None:
    script(data=data)
    for task, output in (("evaluate", "npz"), ("predict", "csv")):
        for examples in ("all", "training", "validation"):
            inference = InferenceSettings(batch_size=64, output=output, examples=examples)
            script(task=task, data=data, model=SAVED, inference=inference)


@pytest.mark.parametrize("data", ONE_OF_EACH, ids=repr)
def test_that_each_kind_of_source_makes_every_script(data: DataSettings) -> None:
    script(data=data, model=PythonModel(path="/model.py"))
    divided = SAVED.model_copy(update={"inputs": Inputs.DIVIDED})
    for task, output, examples in itertools.product(
        ("evaluate", "predict"), ("npz", "csv"), ("all", "training", "validation")
    ):
        inference = InferenceSettings(batch_size=64, output=output, examples=examples)
        text = script(task=task, data=data, model=divided, inference=inference)
        assert f"count, ({1 / 255!r}, 0.0))" in text


@pytest.mark.parametrize(
    "data",
    [
        NpzData(path="/x.npz", inputs=["a"]),
        NpzData(path="/x.npz", outputs={"a": "values"}),
        NpzData(path="/x.npz", autoencoder=True),
        TableData(path="/x.csv", inputs={"a": ["b"]}),
        ImagesData(path="/x", labels_csv="x.csv", numbers=["a"]),
        TfrecordData(path="/x.tfrecord", inputs=["a"]),
        TfrecordData(path="/x.tfrecord", outputs={"a": "values"}),
    ],
    ids=repr,
)
def test_that_a_script_refuses_several_arrays_and_autoencoders(data: DataSettings) -> None:
    with pytest.raises(ProblemError) as caught:
        script(data=data, model=PythonModel(path="/model.py"))
    assert [each.code for each in caught.value.problems] == ["script_without_arrays"]


@pytest.mark.parametrize("data", EVERY_SOURCE_MARKED, ids=repr)
def test_that_every_source_trains_a_saved_model_further_by_a_script(data: DataSettings) -> None:
    new_head = SAVED.model_copy(update={"head": Head.NEW, "frozen_layers": 2})
    divided = SAVED.model_copy(update={"inputs": Inputs.DIVIDED})
    for model in (SAVED, new_head, divided):
        text = script(data=data, model=model)
        assert ("= without_head(network)" in text) is (model.head is Head.NEW)
        assert ("layers[: -2]" in text) is (model.frozen_layers == 2)
        # Its file says how features are made, and so does that of what it becomes.
        assert text.count("recipe |= {") == data.makes_features
        # And what its outputs are about.
        assert text.count('archive.writestr("trained_on.json"') == 1
        knows_names = data.makes_features and model.head is Head.KEPT
        if data.source == "table":  # several labels at once are called as their columns are
            knows_names = knows_names and data.target_kind not in (Target.VALUES, Target.LABELS)
        assert ('recipe["class_names"]' in text) is knows_names
    frozen = SAVED.model_copy(update={"frozen_layers": "base"})
    assert "for layer in layers:\n        layer.trainable" in script(data=data, model=frozen)
    alone = script(StrategySettings(), 1, data=data, model=SAVED)
    assert "across_replicas=True" not in alone


EVERY_STRATEGY = [
    StrategySettings(),
    MIRRORED,
    StrategySettings(kind=StrategyKind.MIRRORED, shares=(64, 0)),
    StrategySettings(kind=StrategyKind.MIRRORED, shares="balanced"),
    StrategySettings(kind=StrategyKind.CENTRAL_STORAGE),
    StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2),
    StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=2),
    StrategySettings(kind=StrategyKind.MODEL_PARALLEL),
    StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement={"dense_1": 1}),
    StrategySettings(kind=StrategyKind.MODEL_PARALLEL, pipeline=True),
]


@pytest.mark.parametrize("strategy", EVERY_STRATEGY, ids=repr)
@pytest.mark.parametrize(
    "training",
    [
        TrainingSettings(),
        TrainingSettings(accumulation_steps=2, clip_norm=0.5, early_stopping_patience=3),
        TrainingSettings(jit_compile=True, optimizer=Optimizer.ADAMW, mixed_precision=True),
        TrainingSettings(schedule=ScheduleSettings(kind="cosine", warmup_epochs=0.5)),
        TrainingSettings(loss=Loss.FOCAL, label_smoothing=0.1),
        TrainingSettings(schedule=ScheduleSettings(kind="reduce_on_plateau")),
        TrainingSettings(weight_decay=0.1, ema=0.9, clip_norm=0.5, beta_1=0.8),
        TrainingSettings(recompute="blocks", accumulation_steps=2),
        TrainingSettings(recompute=["flat", 'a "name"']),
        TrainingSettings(mixed_precision=True, half_precision="float16", clip_norm=0.5),
        TrainingSettings(mixed_precision=True, half_precision="float16", accumulation_steps=2),
    ],
    ids=repr,
)
def test_that_every_strategy_makes_a_script_whose_names_are_all_bound(
    strategy: StrategySettings, training: TrainingSettings
) -> None:
    script(strategy, training=training, model=MlpModel())


@pytest.mark.parametrize("strategy", EVERY_STRATEGY, ids=repr)
def test_that_every_strategy_normalises_and_drops_in_its_script(strategy: StrategySettings) -> None:
    training = TrainingSettings(accumulation_steps=2, clip_norm=0.5)
    script(strategy, training=training, model=CnnModel(dropout=0.5, batch_norm=True))


@pytest.mark.parametrize(
    ("kind", "shares"), [(StrategyKind.MIRRORED, [64]), (StrategyKind.MULTI_WORKER, [64, 0])]
)
def test_that_there_is_a_share_for_each_replica_of_the_strategy(
    kind: StrategyKind, shares: list[int]
) -> None:
    text = script(StrategySettings(kind=kind, shares=(64, 0), workers=2))
    strategy = next(line for line in text.splitlines() if line.startswith("strategy ="))
    assert strategy.count("/device:CPU:") == len(shares)
    assert (f"SHARES = {shares}" in text) is (len(shares) > 1)


@pytest.mark.parametrize(
    "model",
    [
        MlpModel(hidden=(32, 16), dropout=0.5, batch_norm=True),
        CnnModel(filters=(8, 16), hidden=(32,), dropout=0.5, batch_norm=True),
        CnnModel(dropout=0.25),
    ],
    ids=repr,
)
def test_that_every_layer_of_a_model_is_in_the_script(model: MlpModel | CnnModel) -> None:
    text = script(model=model)
    for number, units in enumerate(model.hidden, start=1):
        bias = ", use_bias=False" if model.batch_norm else ""
        assert f'Dense({units}{bias}, name="dense_{number}")' in text
    assert f"Dropout({model.dropout}, " in text
    assert ("BatchNormalization(" in text) is model.batch_norm
    assert ("across_replicas=True" in text) is model.batch_norm


def test_that_only_several_replicas_normalise_together() -> None:
    alone = CnnModel(batch_norm=True, batch_norm_synchronized=False)
    assert "across_replicas=True" not in script(model=alone)
    one_replica = script(StrategySettings(), 1, model=CnnModel(batch_norm=True))
    assert "across_replicas=True" not in one_replica


@pytest.mark.parametrize("optimizer", Optimizer)
def test_that_training_settings_are_in_the_script(optimizer: Optimizer) -> None:
    training = TrainingSettings(
        optimizer=optimizer,
        learning_rate=0.125,
        accumulation_steps=2,
        mixed_precision=True,
        early_stopping_patience=4,
        momentum=0.5,
        beta_1=0.75,
        beta_2=0.95,
        weight_decay=0.0,
        jit_compile=True,
    )
    text = script(training=training)
    assert "(0.125, " in text
    assert ("momentum=0.5" in text) is (optimizer in (Optimizer.SGD, Optimizer.RMSPROP))
    takes_betas = optimizer not in (Optimizer.SGD, Optimizer.RMSPROP)
    assert ("beta_1=" in text) is takes_betas
    assert ("beta_2=0.95" in text) is takes_betas
    assert "weight_decay=0.0" in text
    assert "nesterov" not in text
    assert "STEPS" not in text
    assert "EPOCHS, BATCH = 3, 64\nSHARES = [48, 16]\nPARTS = 2" in text
    assert 'set_dtype_policy("mixed_bfloat16")' in text
    assert "waited >= 4" in text
    assert "@tf.function(jit_compile=True, " in text


@pytest.mark.parametrize("kind", ScheduleKind)
def test_that_a_schedule_is_written_with_keras_own(kind: ScheduleKind) -> None:
    schedule = ScheduleSettings(kind=kind)
    text = script(training=TrainingSettings(learning_rate=0.125, schedule=schedule))
    by_steps = {
        "step": "ExponentialDecay(0.125, 10 * STEPS, 0.1, staircase=True)",
        "exponential": "ExponentialDecay(0.125, 10 * STEPS, 0.1)",
        "cosine": "CosineDecay(0.125, 3 * STEPS, alpha=0.0)",
        "one_cycle": "warmup_target=0.125, warmup_steps=rising",
    }
    assert [each for each in by_steps if by_steps[each] in text] == [kind] * (kind in by_steps)
    assert ("FusedAdam(rate)" in text) is (kind in by_steps)
    assert ("optimizer.learning_rate = 0.125 * factor" in text) is schedule.follows_loss
    assert ("plateau_epochs >= 5" in text) is schedule.follows_loss
    repeated = script(
        data=DigitsData(oversample=True), training=TrainingSettings(schedule=schedule)
    )
    assert ("np.bincount(y).max() // 64" in repeated) is (kind in by_steps)


def test_that_what_a_profile_does_not_need_is_not_in_the_script() -> None:
    text = script(StrategySettings(), 1, data=DigitsData())
    for absent in (
        "division",
        "seeds",
        "moments",
        "micro",
        "clip",
        "waited",
        "jit_compile",
        "_val",
    ):
        assert absent not in text, absent
    assert len(text.splitlines()) < 185


def test_that_a_clipped_gradient_is_that_of_the_whole_batch() -> None:
    text = script(training=TrainingSettings(clip_norm=0.5))
    step = text[text.index("def train_step") :]
    summed, clipped = step.index("batch_reduce_to"), step.index("clipping_scale")
    assert summed < clipped < step.index("learn, args=(gradient, scale)")
    assert "clipping_scale" not in script()


@cache
def without_strings(text: str) -> str:
    """The code of a script, whatever its strings say."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
@pytest.mark.parametrize("task", ["train", "predict"])
def test_that_no_name_breaks_out_of_its_string(hostile: str, task: str) -> None:
    def parts(name: str) -> dict[str, object]:
        data = NpzData(path=f"/{name}", features=name, labels=name)
        model = PythonModel(path=f"/{name}.py") if task == "train" else SavedModel(path=f"/{name}")
        inference = InferenceSettings(batch_size=64)
        return {"data": data, "model": model, "task": task, "inference": inference, "name": name}

    further = {"model": SavedModel(path=f"/{hostile}"), "task": "train"}
    assert without_strings(script(**parts(hostile) | further)) == without_strings(
        script(**parts("harmless") | {"model": SavedModel(path="/m"), "task": "train"})
    )
    text = script(**parts(hostile))
    assert without_strings(text) == without_strings(script(**parts("harmless")))
    constants = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    assert any(isinstance(value, str) and value.startswith(hostile) for value in constants)
    odd = {letter for letter in text if unicodedata.category(letter)[0] in "CZ"} - {" ", "\n"}
    assert not odd
    text.encode()


IN_SETS = ImagesData(path="/x", validation_path="/v", test_path="/t")


@pytest.mark.parametrize("source", [IN_SETS, PythonData(path="/x")], ids=repr)
@pytest.mark.parametrize("hostile", [*HOSTILE, SURROGATE], ids=ascii)
def test_that_no_path_breaks_out_of_its_string(
    source: ImagesData | PythonData, hostile: str
) -> None:
    paths = {key: f"{path}/{hostile}" for key, path in source.chosen_paths.items()}
    text = script(data=source.model_copy(update=paths))
    assert without_strings(text) == without_strings(script(data=source))
    text.encode()


@pytest.mark.parametrize(("task", "model"), [("evaluate", MlpModel()), ("predict", CnnModel())])
def test_that_a_run_that_cannot_start_is_not_exported(task: str, model: ModelSettings) -> None:
    profile = Profile()
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    odd = profile.model_copy(update={"task": task, "model": model})
    with pytest.raises(ProblemError) as refused:
        stand_alone_script(odd, plan)
    assert refused.value.problems[0].code == "export_not_available"


def test_that_a_training_with_a_time_limit_is_not_exported() -> None:
    profile = Profile(training=TrainingSettings(time_limit="8h"))
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    with pytest.raises(ProblemError) as refused:
        stand_alone_script(profile, plan)
    assert refused.value.problems[0].code == "script_without_time_limit"


def test_that_a_fold_is_not_exported() -> None:
    profile = Profile(data=DigitsData(validation_fraction=0.2, fold=2))
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    with pytest.raises(ProblemError) as refused:
        stand_alone_script(profile, plan)
    assert refused.value.problems[0].code == "script_without_folds"
