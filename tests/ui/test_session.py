"""The view-model of the window."""

from pathlib import Path

from gpupanel.domain.data import DigitsData, NpzData
from gpupanel.domain.gpu_claim import GpuClaim
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.model import SavedModel
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, DeviceState, TelemetrySample
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.planning.prepare import Preparation, prepare
from gpupanel.ui.queue_button import queue_button
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import PREPARE_DELAY_MS, Session
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL


class _CountingPreparer:
    def __init__(self):
        self.asked = []

    def __call__(self, profile, inventory, *known):
        self.asked.append((profile, inventory, *known))
        return prepare(profile, inventory, *known)


def _named(name: str) -> Profile:
    return Profile(name=name)


def _sample(used_mib: int) -> TelemetrySample:
    return TelemetrySample(
        time_s=1.0, readings=(DeviceReading(key="cpu", memory_used_mib=used_mib),)
    )


def test_that_nothing_can_start_before_devices_are_known(qtbot):
    session = Session()

    assert not session.prepare_now().is_startable
    assert not session.buttons.start
    assert session.state_text == "Looking for devices…"


def test_that_known_devices_lead_to_a_preparation(qtbot):
    session = Session()

    with qtbot.waitSignal(session.preparationChanged):
        session.set_inventory(CPU_ONLY)

    assert session.buttons.start
    assert session.state_text == "Ready"


def test_that_a_closed_session_prepares_nothing_whatever_is_still_found(qtbot):
    preparer = _CountingPreparer()
    session = Session(preparer)
    session.close()
    session.set_inventory(CPU_ONLY)
    session.set_preview(preview_request(session.profile), DataPreview())
    session.edit(_named("later"))
    qtbot.wait(4 * PREPARE_DELAY_MS)
    assert preparer.asked == []


def test_that_many_changes_at_once_are_prepared_once(qtbot):
    preparer = _CountingPreparer()
    session = Session(preparer)
    session.set_inventory(CPU_ONLY)
    with qtbot.waitSignal(session.preparationChanged):
        for name in ("a", "b", "c"):
            session.edit(_named(name))

    assert [profile.name for profile, *_ in preparer.asked] == ["c"]


def test_that_an_edit_makes_dirty_and_taking_it_back_makes_clean(qtbot):
    session = Session()
    session.edit(_named("changed"))
    assert session.is_dirty

    session.edit(Profile())

    assert not session.is_dirty


def test_that_opening_and_saving_make_clean(qtbot):
    session = Session()
    session.edit(_named("changed"))
    session.open_profile(_named("other"), Path("/somewhere/other.toml"))
    assert (session.is_dirty, session.path) == (False, Path("/somewhere/other.toml"))
    session.edit(_named("again"))

    session.mark_saved(Path("/somewhere/again.toml"))

    assert (session.is_dirty, session.path) == (False, Path("/somewhere/again.toml"))


def test_that_a_fix_is_an_edit(qtbot):
    session = Session()
    changes = (Change(path=("training", "global_batch_size"), value=128),)

    session.apply_fix(Fix(label="Use 128", changes=changes))

    assert session.profile.training.global_batch_size == 128
    assert session.is_dirty


def test_that_free_memory_is_planned_with_and_its_flicker_is_not(qtbot):
    preparer = _CountingPreparer()
    session = Session(preparer)
    session.set_inventory(TWO_UNEQUAL)
    session.prepare_now()
    with qtbot.assertNotEmitted(session.preparationChanged, wait=150):
        session.set_sample(_sample(6400))
        session.set_sample(_sample(6401))

    assert len(preparer.asked) == 2
    assert preparer.asked[-1][2].sample == _sample(6400)


def test_that_the_memory_of_the_machine_plans_anew_only_where_a_good_part_of_it_changed(qtbot):
    preparer = _CountingPreparer()
    session = Session(preparer)
    session.set_inventory(TWO_UNEQUAL)

    def used(mib: int) -> TelemetrySample:
        reading = DeviceReading(key="cpu", memory_used_mib=mib, memory_total_mib=64_000)
        return TelemetrySample(time_s=1.0, readings=(reading,))

    for mib in (10_000, 10_900, 9_100):
        session.set_sample(used(mib))
    session.prepare_now()
    assert preparer.asked[-1][2].sample == used(10_000)

    session.set_sample(used(11_000))
    session.prepare_now()
    assert preparer.asked[-1][2].sample == used(11_000)


def test_that_who_uses_a_device_is_known_also_when_its_memory_did_not_change(qtbot):
    preparer = _CountingPreparer()
    session = Session(preparer)
    session.set_inventory(TWO_UNEQUAL)
    session.set_sample(_sample(6400))
    session.prepare_now()
    reading = _sample(6400).readings[0]
    used = reading.model_copy(update={"processes": (DeviceProcess(pid=7),)})
    session.set_sample(_sample(6400).model_copy(update={"readings": (used,)}))
    session.prepare_now()

    assert preparer.asked[-1][2].sample.readings[0].processes == (DeviceProcess(pid=7),)


def test_that_a_run_of_another_user_is_warned_of_as_soon_as_it_holds_a_gpu(qtbot):
    """It holds the GPU before its process has taken any of the memory."""
    session = Session()
    session.set_inventory(TWO_UNEQUAL)
    free, other = (DeviceReading(key=gpu.key) for gpu in TWO_UNEQUAL.gpus)
    held = free.model_copy(update={"claims": (GpuClaim(user="ada", since_s=1.0),)})

    def is_warned() -> bool:
        return "gpu_claimed" in [each.code for each in session.preparation.problems]

    for reading in (free, held, free):
        session.set_sample(TelemetrySample(time_s=9.0, readings=(reading, other)))
        qtbot.waitUntil(lambda reading=reading: is_warned() is bool(reading.claims))
        qtbot.wait(50)


def test_that_the_memory_a_run_takes_is_no_problem_of_the_next(qtbot):
    preparer = _CountingPreparer()
    session = Session(preparer)
    session.set_inventory(TWO_UNEQUAL)
    session.set_sample(_sample(6400))
    session.set_run(RunState.RUNNING, None)
    session.set_sample(_sample(20_000))
    session.prepare_now()

    assert preparer.asked[-1][2].sample == _sample(6400)


def test_that_a_problem_of_the_data_keeps_a_run_from_starting_until_other_data_is_chosen(qtbot):
    session = Session()
    session.set_inventory(CPU_ONLY)
    reported = Problem(code="data_file_missing", field="data.path", message="It is gone.")
    data = NpzData(path="gone.npz")
    session.edit(session.profile.model_copy(update={"data": data}))
    session.set_preview(preview_request(session.profile), DataPreview(problems=(reported,)))
    assert reported in session.prepare_now().problems
    assert not session.buttons.start

    session.edit(session.profile.model_copy(update={"data": DigitsData()}))
    assert reported not in session.prepare_now().problems
    assert session.buttons.start


def test_that_a_model_file_that_cannot_be_used_is_a_problem_until_another_is_chosen(qtbot):
    session = Session()
    session.set_inventory(CPU_ONLY)
    reported = Problem(code="model_file_missing", field="model.path", message="It is gone.")
    evaluates = {"task": "evaluate", "model": SavedModel(path="/gone.keras")}
    session.edit(session.profile.model_copy(update=evaluates))
    looked_at = preview_request(session.profile)
    session.set_preview(looked_at, DataPreview(model_problems=(reported,)))
    assert reported in session.prepare_now().problems
    assert not session.buttons.start

    another = {"model": SavedModel(path="/here.keras")}
    session.edit(session.profile.model_copy(update=another))
    assert reported not in session.prepare_now().problems
    assert session.buttons.start

    # The task decides which file matters: a training takes no saved model.
    session.edit(session.profile.model_copy(update={"model": looked_at.model, "task": "train"}))
    assert reported not in session.prepare_now().problems


def test_that_start_is_off_while_a_run_goes_on(qtbot):
    session = Session()
    session.set_inventory(CPU_ONLY)
    session.prepare_now()

    with qtbot.waitSignal(session.runChanged):
        session.set_run(RunState.RUNNING, None)

    assert not session.buttons.start
    assert session.buttons.stop


def test_that_a_preparation_that_says_the_same_is_not_reported_again(qtbot):
    session = Session(lambda *_: Preparation())
    session.set_inventory(CPU_ONLY)

    with qtbot.assertNotEmitted(session.preparationChanged):
        session.prepare_now()


def test_that_a_gpu_that_tensorflow_was_not_built_for_becomes_a_problem_once_the_build_is_known(
    qtbot,
):
    session = Session()
    with qtbot.waitSignal(session.preparationChanged):
        session.set_inventory(TWO_UNEQUAL)
    before = {problem.code for problem in session.preparation.problems}

    with qtbot.waitSignal(session.preparationChanged):
        session.set_gpu_support(
            GpuSupport(build=TensorFlowBuild(version="2.21.0", is_cuda_build=False))
        )

    after = {problem.code for problem in session.preparation.problems}
    assert after - before == {"tensorflow_without_cuda"}


def _answers(*lost):
    return TelemetrySample(
        time_s=0.0,
        readings=tuple(
            DeviceReading(
                key=gpu.key,
                state=DeviceState.LOST if gpu.key in lost else DeviceState.OK,
            )
            for gpu in TWO_UNEQUAL.gpus
        ),
    )


def test_that_a_chosen_gpu_that_is_lost_before_the_start_is_a_problem(qtbot):
    session = Session()
    session.set_inventory(TWO_UNEQUAL)
    session.edit(Profile(devices=DeviceSettings(visible=("GPU-4090",))))
    session.set_sample(_answers())
    assert session.prepare_now().is_startable

    with qtbot.waitSignal(session.preparationChanged):
        session.set_sample(_answers("GPU-4090"))

    (problem,) = session.preparation.problems
    assert problem.code == "device_lost"
    assert not session.buttons.start
    assert session.state_text == "1 problem to fix"
    with qtbot.waitSignal(session.preparationChanged):
        session.set_sample(_answers())
    assert session.buttons.start


def test_that_a_lost_gpu_that_nobody_named_is_reported_and_left_out(qtbot):
    session = Session()
    session.set_inventory(TWO_UNEQUAL)
    session.set_sample(_answers("GPU-4090"))

    preparation = session.prepare_now()

    (problem,) = preparation.problems
    assert problem.code == "device_lost"
    assert problem.severity is Severity.WARNING
    assert "RTX 4090" in problem.message
    assert preparation.is_startable
    assert [device.key for device in preparation.plan.devices] == ["GPU-3060"]


def test_that_a_run_waits_until_the_data_is_read(qtbot):
    session = Session()
    session.set_inventory(CPU_ONLY)
    assert session.prepare_now().is_startable
    assert session.buttons.start  # nobody reads any

    with qtbot.waitSignal(session.checkingChanged):
        session.await_preview()
    assert (session.buttons.start, session.buttons.is_reading) == (False, True)
    assert session.state_text == "Reading the data…"
    assert queue_button(session.preparation, None, 0).is_enabled
    assert not queue_button(session.preparation, None, 0, reading=True).is_enabled

    with qtbot.waitSignal(session.checkingChanged):
        session.set_preview(preview_request(session.profile), DataPreview(example_count=3))
    assert session.buttons.start
    session.await_preview()  # of a model's file: the data is known
    assert session.buttons.start
