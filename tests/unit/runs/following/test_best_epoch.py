"""Which epoch of a run was the best so far, also when epochs are trained anew."""

from gpupanel.domain.events import EpochDone, TrainingResumed
from gpupanel.domain.outcome import Metrics, ValidatedEpoch
from gpupanel.runs.following.status import BestEpoch, RunStatus


def after(status: RunStatus, *losses: float | None, first: int = 1) -> RunStatus:
    for epoch, loss in enumerate(losses, start=first):
        metrics = Metrics(loss=1.0, val_loss=loss)
        status = status.after(
            EpochDone(time_s=1.0, epoch=epoch, step=10 * epoch, metrics=metrics, seconds=1.0)
        )
    return status


def test_that_the_first_epoch_with_the_least_validation_loss_is_the_best() -> None:
    assert after(RunStatus(), None, None).best is None
    status = after(RunStatus(), 3.0, 1.0, 2.0, 1.0)
    assert status.best == BestEpoch(epoch=2, val_loss=1.0)


def test_that_epochs_that_are_trained_anew_are_forgotten() -> None:
    resumed = TrainingResumed(time_s=2.0, path="checkpoints/a", epoch=2, step=10)
    status = after(RunStatus(), 3.0, 1.0, 2.0).after(resumed)
    assert status.best is None
    assert after(status, 4.0, 5.0, first=2).best == BestEpoch(epoch=2, val_loss=4.0)
    kept = after(RunStatus(), 1.0, 2.0, 3.0).after(resumed)
    assert kept.best == BestEpoch(epoch=1, val_loss=1.0)


def done(epoch: int, val_loss: float, *, is_best: bool) -> EpochDone:
    metrics = Metrics(loss=1.0, val_loss=val_loss)
    return EpochDone(
        time_s=1.0, epoch=epoch, step=epoch, metrics=metrics, seconds=1.0, is_best=is_best
    )


def test_that_the_trainer_says_which_epoch_is_the_best() -> None:
    # By accuracy, whose best epoch need not have the least loss.
    status = RunStatus()
    for event in (done(1, 1.0, is_best=True), done(2, 3.0, is_best=True)):
        status = status.after(event)
    status = status.after(done(3, 0.5, is_best=False))
    assert status.best == BestEpoch(epoch=2, val_loss=3.0)


def test_that_a_resumed_run_has_the_best_epoch_of_its_checkpoint() -> None:
    status = RunStatus()
    for epoch, loss in enumerate((2.0, 3.0, 1.0), start=1):
        status = status.after(done(epoch, loss, is_best=epoch != 2))
    first = ValidatedEpoch(epoch=1, step=1, metrics=Metrics(val_loss=2.0))
    resumed = TrainingResumed(time_s=1.0, path="x", epoch=3, step=2, best=first)
    # The third epoch, which was the best, is trained again.
    assert status.after(resumed).best == BestEpoch(epoch=1, val_loss=2.0)


def test_that_the_last_validation_stands_until_there_is_another() -> None:
    status = after(RunStatus(), None, 3.0, None)
    assert (status.metrics.val_loss, status.epoch) == (3.0, 3)
    assert status.best == BestEpoch(epoch=2, val_loss=3.0)
    assert after(status, 4.0, first=4).metrics.val_loss == 4.0
    assert after(RunStatus(), None, None).metrics == Metrics(loss=1.0)
