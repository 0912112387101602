"""The names inside a run's directory."""

from pathlib import Path

from gpupanel.domain.run_layout import RunLayout


def test_that_every_place_of_a_run_is_within_it_and_one_of_its_own() -> None:
    layout = RunLayout(Path("/runs/one"))
    names = [name for name, found in vars(RunLayout).items() if isinstance(found, property)]
    places = [place for name in names if isinstance(place := getattr(layout, name), Path)]
    places += [layout.process_log(1), layout.predictions("npz"), layout.predictions("csv")]
    places += [layout.former_profile(1), layout.former_plan(1), layout.process_events(1)]
    places += [layout.process_outputs(1)]
    places += [layout.other_model(is_best=True), layout.other_model(is_best=False)]
    assert len(set(places)) == len(places)
    assert all(place.is_relative_to(layout.root) for place in places)
    assert layout.process_log(0) == layout.trainer_log
    assert layout.name == "one"
    assert layout.model_code.parent == layout.data_code.parent == layout.code
