"""The table of a sweep: what may stand in it, and the sentence about each mistake."""

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.domain.sweep import SweepMethod, SweptRange
from gpupanel.domain.sweep_mistakes import sweep_mistakes, swept_setting, with_values

DESIGNED = """
[sweep]
method = "random"
trials = 20
metric = "val_loss"
prune = true
[sweep.values]
"training.learning_rate" = { low = 1e-4, high = 1e-1, log = true }
"model.hidden" = [[64], [128], [128, 64]]
"""


def swept(values: str, above: str = "", sweep: str = "") -> Profile:
    return parse_profile(f"{above}\n[sweep]\n{sweep}\n[sweep.values]\n{values}")


def said(profile: Profile) -> list[tuple[str, str]]:
    return [(problem.field, problem.message) for problem in sweep_mistakes(profile)]


def test_that_the_designed_table_is_read_and_written_and_has_no_mistakes() -> None:
    profile = parse_profile(DESIGNED)
    assert profile.sweep is not None
    assert profile.sweep.method is SweepMethod.RANDOM
    assert profile.sweep.values == {
        "training.learning_rate": SweptRange(low=1e-4, high=1e-1, log=True),
        "model.hidden": ((64,), (128,), (128, 64)),
    }
    assert parse_profile(dump_profile(profile)) == profile
    assert sweep_mistakes(profile) == ()


HALVING = 'stopping_rule = "successive_halving"'
RATES = '"training.learning_rate" = [0.1, 0.01]'


@pytest.mark.parametrize(
    ("sweep", "training", "values", "message"),
    [
        (HALVING, "epochs = 9", RATES, None),
        ('first_rung = 9\nstopping_rule = "median"', "epochs = 9", RATES, None),
        (f"{HALVING}\nprune = false\nfirst_rung = 9", "epochs = 9", RATES, None),
        (
            f"{HALVING}\nfirst_rung = 9",
            "epochs = 9",
            RATES,
            (
                "The first rung is after epoch 9, and trials end after epoch 9: none would be "
                "paused, and all be trained to their end."
            ),
        ),
        (f"{HALVING}\nfirst_rung = 9", "epochs = 9", '"training.epochs" = [5, 50]', None),
        (
            HALVING,
            "epochs = 9\nvalidate_every = 2",
            RATES,
            (
                "val_loss is not measured at each rung: the first one is after epoch 1, and trials "
                "are validated every 2 epochs."
            ),
        ),
        (f"{HALVING}\nfirst_rung = 2", "epochs = 9\nvalidate_every = 2", RATES, None),
        (f'{HALVING}\nmetric = "loss"', "epochs = 9\nvalidate_every = 2", RATES, None),
        (
            HALVING,
            "epochs = 9",
            '"training.validate_every" = [1, 2]',
            (
                "val_loss is not measured at each rung: the first one is after epoch 1, and not "
                "all trials validate after it."
            ),
        ),
    ],
)
def test_that_rungs_at_which_nothing_is_compared_are_named(
    sweep: str, training: str, values: str, message: str | None
) -> None:
    found = said(swept(values, f"[training]\n{training}", sweep))
    assert found == ([] if message is None else [("sweep.first_rung", message)])


def test_that_a_run_of_the_profile_does_without_the_table() -> None:
    assert parse_profile(DESIGNED).for_one_run == Profile()
    assert "sweep" not in dump_profile(parse_profile(DESIGNED).for_one_run)
    assert Profile().for_one_run == Profile()


@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        ("x = 3", "sweep.values.x", "sweep.values.x is 3, but must be a list, in [brackets]."),
        ("x = {low = 1}", "sweep.values.x.high", "sweep.values.x.high is missing."),
        (
            "x = {low = 1, high = 2, lo = 3}",
            "sweep.values.x.lo",
            "sweep.values.x.lo is not a key of a profile.",
        ),
        (
            "x = [{a = 3}]",
            "sweep.values.x.0",
            (
                "sweep.values.x.0 is { a = 3 }: it should be a number, text, true or false, or a "
                "list of numbers or text."
            ),
        ),
        (
            "x = {low = 1, high = 2, steps = 1}",
            "sweep.values.x.steps",
            "sweep.values.x.steps is 1, but Steps must be a whole number from 2 to 1000.",
        ),
    ],
)
def test_that_what_is_no_list_or_range_is_named_when_the_profile_is_read(
    values: str, field: str, message: str
) -> None:
    with pytest.raises(ProblemError) as caught:
        swept(values)
    assert [(each.field, each.message) for each in caught.value.problems] == [(field, message)]


@pytest.mark.parametrize("text", ["x = [nan]", "x = {low = nan, high = 1}", "x = [2020-01-01]"])
def test_that_neither_nan_nor_a_date_is_a_value(text: str) -> None:
    with pytest.raises(ProblemError):
        swept(text)


def test_that_a_profile_without_values_says_so() -> None:
    assert [each.code for each in sweep_mistakes(Profile())] == ["sweep_empty"]
    assert [each.code for each in sweep_mistakes(parse_profile("[sweep]"))] == ["sweep_empty"]


@pytest.mark.parametrize(
    ("values", "sweep", "message"),
    [
        (
            '"training.learning_rat" = [0.1]',
            "",
            '"training.learning_rat" is not a setting of this profile that can be swept.',
        ),
        ('"name" = ["a"]', "", '"name" is not a setting of this profile that can be swept.'),
        ('"model.source" = ["cnn"]', "", None),
        ('"training.optimizer.x" = ["cnn"]', "", None),
        ('"devices.described.cpu.name" = ["x"]', "", None),
        ('"training.epochs" = []', "", "training.epochs has no values."),
        (
            '"training.epochs" = [3, 0]',
            "",
            "training.epochs is 0, but Epochs must be a whole number from 1 to 2147483647.",
        ),
        (
            '"training.optimizer" = ["adam", "adan"]',
            "",
            None,
        ),
        (
            '"training.optimizer" = {low = 1, high = 2}',
            "",
            "training.optimizer takes a list of values: it is not a number.",
        ),
        (
            '"training.learning_rate" = {low = 2, high = 1}',
            "",
            "The range of training.learning_rate is empty: low is not below high.",
        ),
        (
            '"training.seed" = {low = 0, high = 1, log = true}',
            "",
            "The range of training.seed is logarithmic and begins at 0.",
        ),
        (
            '"training.learning_rate" = {low = 0.1, high = 1}',
            'method = "grid"',
            "The range of training.learning_rate does not say how many values a grid takes of it.",
        ),
        ('"training.learning_rate" = {low = -1, high = 1}', "", None),
        (
            '"training.momentum" = [0.5, 0.9]',
            "",
            (
                "training.momentum means nothing with this profile's training.optimizer: all "
                "trials would be equal."
            ),
        ),
        (
            '"training.epochs" = [1]',
            'metric = "val_los"',
            'sweep.metric is "val_los", which is not measured in each epoch.',
        ),
        ('"training.epochs" = [1]', 'metric = "xyzzy"', None),
        ('"training.epochs" = [1]', 'metric = "test_loss"', None),
    ],
)
def test_that_each_mistake_is_one_problem(values: str, sweep: str, message: str | None) -> None:
    found = said(swept(values, sweep=sweep))
    assert len(found) == 1
    assert message in (None, found[0][1])


def test_that_a_mistyped_key_gets_the_nearest_one() -> None:
    problem = sweep_mistakes(swept('"training.learning_rat" = [0.1]'))[0]
    assert problem.hint == "Did you mean training.learning_rate?"
    problem = sweep_mistakes(swept('"@" = [0.1]'))[0]
    assert problem.hint == 'Name it from the top, such as "training.learning_rate".'


def test_that_a_setting_may_need_another_one_that_is_swept_too() -> None:
    both = '"training.optimizer" = ["adam", "sgd"]\n"training.momentum" = [0.5, 0.9]'
    assert said(swept(both)) == []


def test_that_a_metric_of_validation_needs_examples_to_validate_on() -> None:
    without = '[data]\nsource = "digits"\nvalidation_fraction = 0.0'
    problem = sweep_mistakes(swept('"training.epochs" = [1]', without))[0]
    assert problem.code == "sweep_metric_not_measured"
    assert problem.fix is not None
    problem = sweep_mistakes(swept('"training.epochs" = [1]', without, 'metric = "val_f1"'))[0]
    assert problem.fix is None


def test_that_only_trainings_are_swept() -> None:
    profile = swept('"training.epochs" = [1]', 'task = "evaluate"')
    assert [each.code for each in sweep_mistakes(profile)] == ["sweep_without_training"]


def test_that_a_path_is_given_whole() -> None:
    above = '[data]\nsource = "npz"\npath = "/a.npz"\n'
    assert said(swept('"data.path" = ["/a.npz", "/b.npz"]', above)) == []
    found = said(swept('"data.path" = ["/a.npz", "b.npz"]', above))
    assert found == [
        (
            "sweep.values.data.path",
            'data.path has "b.npz": whose folder that is in, a sweep cannot know.',
        )
    ]


def test_that_neither_too_many_settings_nor_values_are_taken() -> None:
    many = "\n".join(f'"training.x{number}" = [1]' for number in range(33))
    assert said(swept(many)) == [("sweep.values", "The sweep has 33 settings; 32 are the most.")]
    values = ", ".join(str(number) for number in range(1_001))
    assert said(swept(f'"training.seed" = [{values}]')) == [
        (
            "sweep.values.training.seed",
            "training.seed has 1,001 values; a sweep has at most 1,000 trials.",
        )
    ]


def test_that_whether_more_is_better_follows_from_the_metric_unless_it_is_said() -> None:
    def more_is_better(sweep: str) -> bool:
        settings = parse_profile(f"[sweep]\n{sweep}").sweep
        assert settings is not None
        return settings.more_is_better

    assert not more_is_better('metric = "val_loss"')
    assert more_is_better('metric = "val_accuracy"')
    assert not more_is_better('metric = "mean_absolute_error"')
    assert more_is_better('metric = "val_loss"\ndirection = "maximize"')
    assert not more_is_better('metric = "val_accuracy"\ndirection = "minimize"')


def test_that_values_are_set_in_tables_that_are_there_or_not() -> None:
    profile = parse_profile(DESIGNED)
    changed = with_values(profile, {"model.hidden": (8, 4), "training.learning_rate": 0.5})
    assert changed == parse_profile(
        '[model]\nsource = "mlp"\nhidden = [8, 4]\n[training]\nlearning_rate = 0.5'
    )
    setting = swept_setting(profile, "model.hidden")
    assert setting is not None
    assert setting.name == "hidden"
    assert swept_setting(profile, "model.filters") is None


def test_that_seeds_are_not_swept_twice() -> None:
    both = swept('"training.seed" = [1, 2]', "", "seeds = 3")
    assert said(both) == [
        (
            "sweep.values.training.seed",
            "training.seed is swept, and each trial is to be trained with 3 seeds of its own.",
        )
    ]
    assert said(swept('"training.seed" = [1, 2]')) == []


LAST = '[data]\nsource = "digits"\nvalidation_fraction = 0.2\nholdout = "last"'


@pytest.mark.parametrize(
    ("above", "values", "field"),
    [
        ("", "", None),
        ('[data]\nsource = "digits"\nvalidation_fraction = 0.0', RATES, None),
        (LAST, RATES, "sweep.folds"),
        ('[data]\nsource = "images"\npath = "a"\nvalidation_path = "b"', RATES, "sweep.folds"),
        ("", '"data.fold" = [1, 2]', "sweep.values.data.fold"),
    ],
)
def test_that_folds_that_cannot_be_held_out_are_named(
    above: str, values: str, field: str | None
) -> None:
    problems = sweep_mistakes(swept(values, above, "folds = 5"))
    found = [(each.code, each.field) for each in problems if each.code != "sweep_setting_unused"]
    assert found == ([] if field is None else [("sweep_folds_impossible", field)])
