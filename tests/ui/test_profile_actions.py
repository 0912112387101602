"""Profile files: new, open, save, recent, examples, and asking before changes are lost."""

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from gpupanel.domain.data import NpzData
from gpupanel.domain.profile import DeviceDescription, DeviceSettings, Profile
from gpupanel.runs.directory.profile_file import read_profile, write_profile
from gpupanel.runs.directory.templates import templates
from gpupanel.ui.profile_actions import ProfileActions, example_profiles
from gpupanel.ui.questions import SaveChoice
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.run_directory import WrittenRun
from tests.fakes.small_disks import fill, small_disk  # noqa: F401 - a fixture

FIVE_MISTAKES = """
schema_version = 1
name = "mistakes"
colour = "red"
[strategy]
kind = "mirored"
[training]
epochs = 0
learning_rate = "fast"
optimizer = "adan"
"""


class _Person:
    """Answers questions as the test says."""

    def __init__(self):
        self.choice = SaveChoice.CANCEL
        self.opens: Path | None = None
        self.saves: Path | None = None
        self.overwrites = False
        self.asked = []
        self.problems = []
        self.suggested = []

    def about_changes(self, name):
        self.asked.append(name)
        return self.choice

    def about_overwriting(self, name):
        self.asked.append(name)
        return self.overwrites

    def profile_to_open(self, folder):
        return self.opens

    def program_to_open(self, folder):
        return self.opens

    def place_for_template(self, title, suggestion):
        self.suggested.append(suggestion)
        return self.saves

    def place_to_save(self, suggestion):
        return self.saves

    def show_problems(self, title, problems):
        self.problems.append((title, tuple(problems)))


@pytest.fixture
def person():
    return _Person()


@pytest.fixture
def settings(tmp_path):
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def actions(session, settings, person):
    return ProfileActions(session, settings, person)


def _written(path: Path, name: str = "written") -> Path:
    write_profile(path, Profile(name=name))
    return path


def test_that_open_shows_the_profile_that_was_picked(actions, session, person, tmp_path):
    person.opens = _written(tmp_path / "a.toml")

    actions.open()

    assert session.profile.name == "written"
    assert (session.path, session.is_dirty) == (person.opens, False)


def test_that_a_bad_file_reports_all_its_mistakes_and_changes_nothing(
    actions, session, person, tmp_path
):
    bad = tmp_path / "bad.toml"
    bad.write_text(FIVE_MISTAKES, encoding="utf-8")
    session.open_profile(Profile(name="before"), tmp_path / "before.toml")

    assert not actions.open_file(bad)

    (title, problems) = person.problems[0]
    assert "5 problems" in title
    assert {problem.field for problem in problems} == {
        "colour",
        "strategy.kind",
        "training.epochs",
        "training.learning_rate",
        "training.optimizer",
    }
    assert (session.profile.name, session.path) == ("before", tmp_path / "before.toml")
    assert actions.recent() == ()


def test_that_a_missing_file_is_shown(actions, person, tmp_path):
    assert not actions.open_file(tmp_path / "gone.toml")

    assert "does not exist" in person.problems[0][1][0].message


@pytest.mark.parametrize(
    "content",
    [None, "a=" + "[" * 500, "a=" + "9" * 5_000, '[data]\nsource = "npz"\npath = "~no/x"'],
)
def test_that_a_hostile_profile_is_shown_and_not_waited_for(
    actions, session, person, tmp_path, content
):
    path = tmp_path / "hostile.toml"
    os.mkfifo(path) if content is None else path.write_text(content)
    session.open_profile(Profile(name="before"), None)

    assert not actions.open_file(path)

    (problem,) = person.problems[0][1]
    codes = ("not_a_regular_file", "profile_not_toml", "home_unknown")
    assert problem.code in codes
    assert session.profile.name == "before"


def test_that_save_asks_for_a_file_once(actions, session, person, tmp_path):
    session.edit(Profile(name="mine"))
    person.saves = tmp_path / "mine.toml"
    assert actions.save()
    person.saves = None
    session.edit(Profile(name="mine, again"))

    assert actions.save()

    assert read_profile(tmp_path / "mine.toml") == session.profile
    assert not session.is_dirty


def test_that_a_save_asks_before_it_undoes_what_another_window_saved(
    actions, session, person, tmp_path
):
    path = _written(tmp_path / "shared.toml")
    actions.open_file(path)
    session.edit(session.profile.model_copy(update={"name": "mine"}))
    theirs = _written(path, "theirs").read_bytes()

    assert not actions.save()
    assert (person.asked, session.is_dirty) == (["shared.toml"], True)
    assert path.read_bytes() == theirs

    person.overwrites = True
    assert actions.save()
    assert read_profile(path).name == "mine"


@pytest.mark.parametrize("there", ["as it was", "gone", "damaged"])
def test_that_a_save_asks_only_where_something_would_be_lost(
    actions, session, person, tmp_path, there
):
    path = tmp_path / "shared.toml"
    data = {"source": "npz", "path": "data/train.npz"}
    path.write_text(
        "schema_version = 1\n[data]\n" + "".join(f'{k} = "{v}"\n' for k, v in data.items())
    )
    actions.open_file(path)
    for name in ("once", "twice"):  # what it saved itself is no change
        session.edit(session.profile.model_copy(update={"name": name}))
        assert actions.save()
    if there == "gone":
        path.unlink()
    elif there == "damaged":
        path.write_text("half of what an editor wri")

    session.edit(session.profile.model_copy(update={"name": "thrice"}))
    assert actions.save() == (there != "damaged")
    assert person.asked == (["shared.toml"] if there == "damaged" else [])


def test_that_a_saved_profile_says_what_its_gpus_are(actions, session, person, tmp_path):
    session.set_inventory(TWO_UNEQUAL)
    devices = DeviceSettings(visible=("GPU-3060",))
    session.edit(Profile(name="mine", devices=devices))
    person.saves = tmp_path / "mine.toml"

    assert actions.save()

    saved = read_profile(person.saves)
    assert saved.devices.described == {
        "GPU-3060": DeviceDescription(name="RTX 3060", memory_total_mib=12_288)
    }
    assert session.profile == saved
    assert not session.is_dirty


def test_that_a_profile_without_a_name_takes_the_files(actions, session, person, tmp_path):
    person.saves = tmp_path / "cats.toml"

    assert actions.save()

    assert session.profile.name == read_profile(person.saves).name == "cats"
    assert not session.is_dirty


def test_that_a_save_that_fails_is_shown_and_stays_dirty(actions, session, person, tmp_path):
    session.edit(Profile(name="mine"))
    person.saves = tmp_path / "nowhere" / "mine.toml"

    assert not actions.save()

    assert session.is_dirty
    assert person.problems


@pytest.mark.parametrize(
    ("choice", "name"), [(SaveChoice.CANCEL, "changed"), (SaveChoice.DISCARD, "untitled")]
)
def test_that_new_asks_before_changes_are_lost(actions, session, person, choice, name):
    session.edit(Profile(name="changed"))
    person.choice = choice

    actions.new()

    assert person.asked == ["changed"]
    assert session.profile.name == name


def test_that_a_save_on_a_full_disk_keeps_the_old_file_and_the_changes(
    actions,
    session,
    person,
    small_disk,  # noqa: F811
):
    path = _written(small_disk / "kept.toml", name="before")
    assert actions.open_file(path)
    before = path.read_bytes()
    session.edit(session.profile.model_copy(update={"name": "after"}))
    filler = fill(small_disk)
    assert not actions.save()
    ((title, problems),) = person.problems
    assert title == "kept.toml was not saved."
    assert [problem.code for problem in problems] == ["no_space"]
    assert path.read_bytes() == before
    assert session.is_dirty
    assert {each.name for each in small_disk.iterdir()} == {"kept.toml", "filler"}
    filler.unlink()
    assert actions.save()
    assert read_profile(path).name == "after"


def test_that_save_before_new_saves(actions, session, person, tmp_path):
    session.edit(Profile(name="changed"))
    person.choice, person.saves = SaveChoice.SAVE, tmp_path / "changed.toml"

    actions.new()

    assert read_profile(tmp_path / "changed.toml").name == "changed"
    assert session.profile == Profile()


def test_that_a_save_given_up_keeps_the_changes(actions, session, person):
    session.edit(Profile(name="changed"))
    person.choice, person.saves = SaveChoice.SAVE, None

    actions.new()

    assert session.profile.name == "changed"


def test_that_nothing_is_asked_when_nothing_changed(actions, session, person):
    actions.new()

    assert person.asked == []


def test_that_recent_files_are_remembered_newest_first_and_gone_ones_forgotten(
    actions, settings, session, person, tmp_path
):
    first, second = _written(tmp_path / "1.toml"), _written(tmp_path / "2.toml")
    for path in (first, second, first):
        actions.open_file(path)
    assert actions.recent() == (first, second)
    second.unlink()
    settings.sync()

    again = ProfileActions(session, QSettings(settings.fileName(), settings.format()), person)

    assert again.recent() == (first,)


def test_that_an_example_is_a_beginning_not_a_file(actions, session):
    title, path = next(each for each in example_profiles() if each[1].name == "digits.toml")

    actions.open_example(path)

    assert session.profile.name == title
    assert (session.path, session.is_dirty) == (None, False)
    assert actions.recent() == ()


def test_that_a_relative_data_path_is_meant_from_the_profiles_folder(actions, session, tmp_path):
    path = tmp_path / "cats.toml"
    path.write_text(
        'schema_version = 1\nname = "cats"\n[data]\nsource = "npz"\npath = "cats.npz"\n',
        encoding="utf-8",
    )

    actions.open_file(path)

    assert isinstance(session.profile.data, NpzData)
    assert Path(session.profile.data.path) == tmp_path / "cats.npz"


@pytest.fixture
def run(runs_dir):
    with WrittenRun(
        runs_dir, Profile(name="of a run", data=NpzData(path="/data/x.npz"))
    ) as written:
        written.begin()
        written.end()
    return written.layout


@pytest.mark.parametrize("name", ["profile.toml", "profile-1.toml"])
def test_that_the_profile_of_a_run_opens_as_a_copy_that_no_file_holds(
    actions, session, person, run, tmp_path, name
):
    path = run.root / name
    path.write_bytes(run.profile.read_bytes())
    before = path.read_bytes()
    assert actions.open_file(path)
    assert (session.profile.name, session.path, session.is_dirty) == ("of a run", None, False)
    assert session.profile.data == NpzData(path="/data/x.npz")
    assert actions.recent() == ()
    session.edit(session.profile.model_copy(update={"name": "changed"}))
    person.saves = path
    assert not actions.save()
    assert person.problems[-1][1][0].code == "inside_a_run"
    assert session.is_dirty
    person.saves = tmp_path / "mine.toml"
    assert actions.save()
    assert read_profile(tmp_path / "mine.toml").name == "changed"
    assert path.read_bytes() == before


def test_that_a_relative_path_in_a_copied_run_is_meant_from_the_runs_folder(actions, session, run):
    text = run.profile.read_text().replace("/data/x.npz", "x.npz")
    run.profile.write_text(text)
    assert actions.open_file(run.profile)
    assert session.profile.data == NpzData(path=str(run.root / "x.npz"))


def test_that_the_settings_of_a_run_are_used_unless_changes_would_be_lost(
    actions, session, person, run
):
    session.edit(Profile(name="in the making"))
    assert not actions.use_settings_of(run)
    assert (session.profile.name, person.asked) == ("in the making", ["in the making"])
    person.choice = SaveChoice.DISCARD
    assert actions.use_settings_of(run)
    assert (session.profile.name, session.path) == ("of a run", None)
    run.profile.write_text("colour = 'red'")
    assert not actions.use_settings_of(run)
    assert person.problems
    assert session.profile.name == "of a run"


def test_that_a_template_is_copied_to_where_the_person_wants_it_and_opened(
    actions, session, person, tmp_path
):
    template = templates()[0]
    person.saves = tmp_path / "new" / "mine"
    actions.begin_with_template(template)

    assert session.path == tmp_path / "new" / "mine" / "profile.toml"
    assert not session.is_dirty
    assert session.profile.name == template.title
    assert Path(session.profile.model.path) == tmp_path / "new" / "mine" / "model.py"
    assert actions.recent() == (session.path,)
    for path in template.files:
        assert (session.path.parent / path.name).read_bytes() == path.read_bytes()

    person.saves = None
    (tmp_path / "new" / "mine" / template.name).mkdir()
    actions.begin_with_template(template)
    assert person.suggested[-1] == tmp_path / "new" / "mine" / f"{template.name}-2"


def test_that_a_template_harms_nothing_that_stands_in_its_folder(
    actions, session, person, tmp_path
):
    (tmp_path / "model.py").write_text("mine")
    person.saves = tmp_path
    before = session.profile
    actions.begin_with_template(templates()[0])

    ((title, (problem,)),) = person.problems
    assert "was not copied" in title
    assert problem.code == "folder_not_empty"
    assert session.profile == before
    assert (tmp_path / "model.py").read_text() == "mine"
    assert not (tmp_path / "profile.toml").exists()
