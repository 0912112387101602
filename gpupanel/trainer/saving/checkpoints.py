"""Checkpoints: complete or absent, never half."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.outcome import ValidatedEpoch
from gpupanel.files.guarded_files import check_folder, make_folder, remove_folder, rename
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.saving.best_weights import BestWeights
from gpupanel.trainer.saving.checkpoint_files import (
    Checkpoint,
    CheckpointDamaged,
    force_names_to_disk,
    is_unreadable_now,
    read_checkpoint,
    read_position,
    write_checkpoint,
)
from gpupanel.trainer.saving.position import Position

_NAME = re.compile(r"step-(?P<step>\d+)(-(?P<again>\d+))?")
_BEST_NAME = re.compile(r"best-(?P<step>\d+)(-(?P<again>\d+))?")


@dataclass(frozen=True, slots=True)
class Saved:
    """One that was just saved.

    Attributes:
        place: Its folder.
        is_best: It is of the end of the best epoch, and is kept for that.
    """

    place: Path
    is_best: bool


@dataclass(frozen=True, slots=True)
class Damage:
    """A checkpoint that cannot be used, and why."""

    place: Path
    detail: str


@dataclass(frozen=True, slots=True)
class FoundCheckpoints:
    """The checkpoints that a run can go on from.

    Attributes:
        checkpoint: The newest whole one; ``None`` when there is none.
        damaged: Newer ones, the newest first.
    """

    checkpoint: Checkpoint | None
    damaged: tuple[Damage, ...] = ()


class Checkpoints:
    """Saves checkpoints, a folder each, and keeps the newest ones and the best.

    A folder is written beside, forced to disk and then renamed, so that whatever has a
    checkpoint's name is whole; it is renamed again before it is deleted. One that stands is not
    touched before its successor does.

    A checkpoint of the best epoch has that epoch's weights. Where there is none, because not each
    epoch is saved, they have a folder of their own, written in the same way before the first
    checkpoint that names it; it stays as long as a checkpoint that is kept names it.
    """

    def __init__(self, folder: Path, *, kept: int = 3, keeps_best: bool = True) -> None:
        """Touches nothing yet.

        Args:
            folder: Of all of them; made with the first one.
            kept: The newest so many are kept.
            keeps_best: Also keep, where nothing says which epoch is the best, the one of those
                saved at the end of an epoch with the least validation loss (training loss where
                nothing is validated).
        """
        self._folder = folder
        self._kept = kept
        self._keeps_best = keeps_best

    def save(
        self, state: Mapping[str, Array], position: Position, best: BestWeights | None = None
    ) -> Saved:
        """Save one, and delete those that are not kept any more.

        Args:
            state: Every variable by name.
            position: Where the training stands.
            best: What the model had in the best epoch; it stands beside the checkpoint afterwards.
                ``None``: that is not known, or not wanted.

        Raises:
            OSError: It cannot be written; what was there before stays.
        """
        # Without parents: a run whose folder is gone does not come back as a ghost.
        make_folder(self._folder)
        self.clean_up()
        place = self._free_place(position.step)
        is_best = best is not None and best.epoch.step == position.step
        if best is not None:
            if not is_best:
                self._save_weights(best)
            position = position.model_copy(update={"best_place": "" if is_best else best.place})
        self._write(place, state, position)
        if is_best and best is not None:
            best.place = place.name
        elif best is None and self._keeps_best:
            is_best = place == self._best()
        self._delete_others(place)
        return Saved(place, is_best=is_best)

    def _save_weights(self, best: BestWeights) -> None:
        """Give the weights of the best epoch a folder, where they have none yet."""
        if best.place and (self._folder / best.place).is_dir():
            return
        name = f"best-{best.epoch.step:09d}"
        again = [_age(path)[1] for path in self._weights() if path.name.startswith(name)]
        place = self._folder / (f"{name}-{max(again) + 1}" if again else name)
        epoch = best.epoch
        at = Position(step=epoch.step, epoch=epoch.epoch + 1, metrics=epoch.metrics, best=epoch)
        self._write(place, best.weights, at)
        best.place = place.name

    def _write(self, place: Path, state: Mapping[str, Array], position: Position) -> None:
        beside = self._aside(place)
        try:
            write_checkpoint(beside, state, position)
            rename(beside, place, self._folder.parent)
            force_names_to_disk(self._folder)
        except OSError:
            # A full disk: what was begun must not keep it full.
            remove_folder(beside, self._folder.parent)
            raise

    def saved(self) -> list[Path]:
        """The complete ones, oldest first; none where something else stands in their place."""
        if not self._is_there():
            return []
        return sorted(
            (path for path in self._folder.glob("step-*") if _NAME.fullmatch(path.name)),
            key=_age,
        )

    def newest_whole(self) -> FoundCheckpoints:
        """The newest one whose files are what was written.

        Raises:
            OSError: One cannot be read now; its ``filename`` is that of the checkpoint.
        """
        damaged: list[Damage] = []
        for place in reversed(self.saved()):
            try:
                return FoundCheckpoints(read_checkpoint(place), tuple(damaged))
            except CheckpointDamaged as damage:
                damaged.append(Damage(place, str(damage)))
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(place)) from error
        return FoundCheckpoints(None, tuple(damaged))

    def read_best(self, name: str) -> Checkpoint:
        """What stands in the folder that a checkpoint names for the weights of the best epoch.

        Raises:
            CheckpointDamaged: It is not what was written, or not there any more.
            OSError: It cannot be read now; its ``filename`` is that of the folder.
        """
        if not (_NAME.fullmatch(name) or _BEST_NAME.fullmatch(name)):
            raise CheckpointDamaged(f"{name[:80]!r} does not name a folder of weights")
        place = self._folder / name
        try:
            return read_checkpoint(place)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(place)) from error

    def with_best_saved(self, position: Position) -> Position:
        """A position that an earlier version wrote, with the best of the epochs that are saved."""
        place = self._best()
        of_best = None if place is None else _position_of(place)
        if place is None or of_best is None or of_best.metrics.val_loss is None:
            return position
        if of_best.step > position.step:
            return position  # damaged, and trained anew
        best = ValidatedEpoch(epoch=of_best.epoch - 1, step=of_best.step, metrics=of_best.metrics)
        return position.model_copy(update={"best": best, "best_place": place.name})

    def clean_up(self) -> None:
        """Remove what a killed process left half written or half deleted."""
        if self._is_there():
            for left_over in self._folder.glob(".*.partial"):
                remove_folder(left_over, self._folder.parent)

    def _is_there(self) -> bool:
        """Whether there is a folder of the run's own; anything else is reported when saving."""
        try:
            return check_folder(self._folder)
        except OSError:
            return False

    def _free_place(self, step: int) -> Path:
        """A name that none has: the same step may be saved again, at the end of its epoch."""
        again = [_age(path)[1] for path in self.saved() if _age(path)[0] == step]
        name = f"step-{step:09d}"
        return self._folder / (f"{name}-{max(again) + 1}" if again else name)

    def _aside(self, place: Path) -> Path:
        return self._folder / f".{place.name}.partial"

    def _best(self) -> Path | None:
        """The best of those that can be read now."""
        losses = {place: loss for place in self.saved() if (loss := _loss_of(place)) is not None}
        return min(losses, key=losses.__getitem__) if losses else None

    def _weights(self) -> list[Path]:
        """Folders with the weights of an epoch that was the best, and nothing else."""
        found = self._folder.glob("best-*")
        return [path for path in found if _BEST_NAME.fullmatch(path.name)]

    def _delete_others(self, newest: Path) -> None:
        """Delete what is neither new nor best.

        Those of later steps than the newest go too: they were damaged, else training would have
        gone on from there. What cannot be read now may be the best, and stays.
        """
        step = _age(newest)[0]
        before = [place for place in self.saved() if _age(place)[0] < step]
        fewer = self._kept - 1
        kept = {newest, *(before[-fewer:] if fewer else ())}
        if any(map(_is_unreadable_now, kept)):
            return  # Where the best weights of these are is not known now.
        best = self._best_of(kept)
        for place in (*self.saved(), *self._weights()):
            if place not in kept | best and not (self._keeps_best and _is_unreadable_now(place)):
                self._delete(place)

    def _best_of(self, kept: set[Path]) -> set[Path]:
        """Where the weights are that these go on with as those of the best epoch."""
        positions = [found for place in kept if (found := _position_of(place)) is not None]
        named = {self._folder / each.best_place for each in positions if each.best_place}
        says_best = any(each.best is not None for each in positions)
        best = self._best() if self._keeps_best and not says_best else None
        return named if best is None else {*named, best}

    def _delete(self, place: Path) -> None:
        aside = self._aside(place)
        try:
            rename(place, aside, self._folder.parent)
        except OSError:
            # It stays, whole; the next one that is saved tries again.
            return
        remove_folder(aside, self._folder.parent)


def _age(place: Path) -> tuple[int, int]:
    """Orders them: the step, and how often it was saved before."""
    name = _NAME.fullmatch(place.name) or _BEST_NAME.fullmatch(place.name)
    assert name is not None
    return int(name["step"]), int(name["again"] or 1)


def _is_unreadable_now(place: Path) -> bool:
    try:
        read_position(place)
    except (OSError, ValueError) as error:
        return is_unreadable_now(error)
    return False


def _position_of(place: Path) -> Position | None:
    """Where it stood; ``None`` where that cannot be read."""
    try:
        return read_position(place)
    except (OSError, ValueError):
        return None


def _loss_of(place: Path) -> float | None:
    """The loss that it is compared by; ``None`` in the middle of an epoch."""
    position = _position_of(place)
    if position is None or position.step_in_epoch or position.epoch == 1:
        return None
    metrics = position.metrics
    return metrics.loss if metrics.val_loss is None else metrics.val_loss
