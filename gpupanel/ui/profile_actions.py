"""New, open, a program, a template, save, recent, examples, and asking before changes are lost."""

from collections.abc import Sequence
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QDir, QFileInfo, QObject, QSettings, Signal, Slot

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import LONGEST_NAME, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.script import PROGRAM_SUFFIXES, ScriptSettings
from gpupanel.domain.visible_text import as_utf8
from gpupanel.files import resources
from gpupanel.planning.description import described
from gpupanel.runs.directory.profile_file import anchored, read_profile, write_profile
from gpupanel.runs.directory.run_folder import run_of_file
from gpupanel.runs.directory.templates import Template, copy_template
from gpupanel.ui.questions import SaveChoice
from gpupanel.ui.session import Session

MOST_RECENT = 8
_RECENT_KEY = "profiles/recent"
_UNTITLED = Profile().name


class ProfileQuestions(Protocol):
    """What must be asked of a person, or shown."""

    def about_changes(self, name: str) -> SaveChoice:
        """Whether to save changes before they would be lost."""

    def about_overwriting(self, name: str) -> bool:
        """Whether to save over what something else wrote into that file meanwhile."""

    def profile_to_open(self, folder: Path) -> Path | None:
        """The profile to open."""

    def program_to_open(self, folder: Path) -> Path | None:
        """The program to run."""

    def place_for_template(self, title: str, suggestion: Path) -> Path | None:
        """The folder to copy a template to."""

    def place_to_save(self, suggestion: Path) -> Path | None:
        """The file to save to."""

    def show_problems(self, title: str, problems: Sequence[Problem]) -> None:
        """Show problems."""


class ProfileActions(QObject):
    """What a person can do with profile files; the session stays as it was when one fails."""

    recentChanged = Signal(object)
    """The recent profiles, the latest first: a tuple of paths."""
    begun = Signal()
    """A person began another profile by a menu: it is in the session now."""
    saved = Signal(object)
    """The profile was saved: to which file, a :class:`Path`."""
    copied = Signal(object)
    """A template was copied and opened: its profile, a :class:`Path`."""
    changesGivenUp = Signal()
    """The person does not want to keep what was changed."""

    def __init__(
        self,
        session: Session,
        settings: QSettings,
        questions: ProfileQuestions,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._settings = settings
        self._questions = questions

    def recent(self) -> tuple[Path, ...]:
        """Recent profiles that are still there, the latest first."""
        stored = self._settings.value(_RECENT_KEY, [])
        names = [stored] if isinstance(stored, str) else stored
        if not isinstance(names, list):
            return ()
        # Not Path.is_file(), which raises for a folder that may not be opened any more.
        return tuple(path for path in map(Path, map(str, names)) if QFileInfo(str(path)).isFile())

    @Slot()
    def new(self) -> None:
        """Begin with the defaults."""
        if self.may_lose_changes():
            self._begin(Profile(), None)

    @Slot()
    def open(self) -> None:
        """Let the person pick a profile and open it."""
        if not self.may_lose_changes():
            return
        path = self._questions.profile_to_open(self._folder())
        if path is not None:
            self._read(path)

    @Slot()
    def open_program(self) -> None:
        """Let the person pick a program of their own, and begin with it."""
        if not self.may_lose_changes():
            return
        path = self._questions.program_to_open(self._folder())
        if path is not None:
            self._begin(_running(path), None)

    @Slot(object)
    def open_file(self, path: Path) -> bool:
        """Open that profile, or begin with that program; says whether it was."""
        return self.may_lose_changes() and self._read(path)

    @Slot(object)
    def open_example(self, path: Path) -> None:
        """Begin with an example; saving asks for a file, the example stays as it is."""
        if not self.may_lose_changes():
            return
        profile = self._profile_in(path)
        if profile is not None:
            self._begin(profile, None)

    @Slot(object)
    def begin_with_template(self, template: Template) -> None:
        """Copy a template to where the person wants it, and open its profile."""
        if not self.may_lose_changes():
            return
        suggestion = _free(self._folder() / template.name)
        folder = self._questions.place_for_template(template.title, suggestion)
        if folder is None:
            return
        try:
            path = copy_template(template, folder)
        except ProblemError as error:
            title = f"“{template.title}” was not copied."
            self._questions.show_problems(title, error.problems)
            return
        if self._read(path):
            self.copied.emit(path)

    def use_settings_of(self, layout: RunLayout) -> bool:
        """Begin with the settings of a run; says whether. Saving asks for a file."""
        if not self.may_lose_changes():
            return False
        profile = self._profile_in(layout.profile)
        if profile is not None:
            self._session.open_profile(profile, None)
        return profile is not None

    @Slot()
    def save(self) -> bool:
        """Save to the profile's file, asking for one when there is none; says whether it was."""
        if self._session.path is None:
            return self.save_as()
        path = self._session.path
        if self._is_changed(path) and not self._questions.about_overwriting(path.name):
            return False
        return self._write(path)

    @Slot()
    def save_as(self) -> bool:
        """Save to another file; says whether it was."""
        file_name = f"{self._session.profile.name}.toml".replace("/", "-")
        suggestion = self._session.path or self._folder() / file_name
        path = self._questions.place_to_save(suggestion)
        return path is not None and self._write(path)

    def may_lose_changes(self) -> bool:
        """Whether there are no changes, or the person saved them or gives them up."""
        if not self._session.is_dirty:
            return True
        match self._questions.about_changes(self._session.profile.name):
            case SaveChoice.SAVE:
                return self.save()
            case SaveChoice.DISCARD:
                self.changesGivenUp.emit()
                return True
            case SaveChoice.CANCEL:
                return False

    def _read(self, path: Path) -> bool:
        if path.suffix.lower() in PROGRAM_SUFFIXES:
            self._begin(_running(path), None)
            return True
        profile = self._profile_in(path)
        if profile is None:
            return False
        if run_of_file(path) is not None:
            # What the run was started with: its file is a record, and no profile to be edited.
            self._begin(profile, None)
            return True
        self._begin(profile, path)
        self._remember(path)
        return True

    def _begin(self, profile: Profile, path: Path | None) -> None:
        self._session.open_profile(profile, path)
        self.begun.emit()

    def _profile_in(self, path: Path) -> Profile | None:
        try:
            return read_profile(path)
        except ProblemError as error:
            count = len(error.problems)
            number = "a problem" if count == 1 else f"{count} problems"
            title = f"{path.name} was not opened: it has {number}."
            self._questions.show_problems(title, error.problems)
            return None

    def _is_changed(self, path: Path) -> bool:
        """Whether the file holds something else than this window read from it or saved to it."""
        if not QFileInfo(str(path)).isFile():
            return False
        try:
            known = anchored(self._session.saved_profile, path.absolute().parent)
            return read_profile(path) != known
        except ProblemError:
            return True

    def _write(self, path: Path) -> bool:
        profile = self._session.profile
        if profile.name == _UNTITLED:
            profile = profile.model_copy(update={"name": path.stem[:LONGEST_NAME]})
        if self._session.inventory is not None:
            profile = described(profile, self._session.inventory)
        try:
            write_profile(path, profile)
        except ProblemError as error:
            self._questions.show_problems(f"{path.name} was not saved.", error.problems)
            return False
        self._session.edit(profile)
        self._session.mark_saved(path)
        self._remember(path)
        self.saved.emit(path)
        return True

    def _remember(self, path: Path) -> None:
        path = path.absolute()
        recent = [path, *(each for each in self.recent() if each != path)][:MOST_RECENT]
        self._settings.setValue(_RECENT_KEY, [str(each) for each in recent])
        self.recentChanged.emit(tuple(recent))

    def _folder(self) -> Path:
        if self._session.path is not None:
            return self._session.path.parent
        recent = self.recent()
        return recent[0].parent if recent else Path(QDir.homePath())


def _free(folder: Path) -> Path:
    """A folder of that name, or with a number behind it, that is not there yet."""
    numbered = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    return next(path for path in chain((folder,), numbered) if not QFileInfo(str(path)).exists())


def _running(program: Path) -> Profile:
    """The profile that runs a program in its folder, and is called as it is."""
    return Profile(
        name=as_utf8(program.stem)[:LONGEST_NAME] or _UNTITLED,
        task="script",
        script=ScriptSettings(path=str(program.absolute())),
    )


@cache  # they stay as they are
def example_profiles() -> tuple[tuple[str, Path], ...]:
    """The profiles that come with gpupanel, each with its title."""
    titled: list[tuple[str, Path]] = []
    for path in sorted(resources.path("profiles").glob("*.toml")):
        try:
            titled.append((read_profile(path).name, path))
        except ProblemError:
            # An example of mistakes: opening it shows them.
            titled.append((path.stem, path))
    return tuple(titled)
