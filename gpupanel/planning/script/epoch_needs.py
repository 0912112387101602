"""What the epochs of a script have to do: what a profile needs beside training and its loss."""

from dataclasses import dataclass

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.data import Target
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.own_code import is_own_code


@dataclass(frozen=True, slots=True)
class EpochNeeds:
    """What the epochs of a profile have to do.

    Attributes:
        predicts_values: And no classes.
        predicts_several: Perhaps several values of an example.
        names_measures: What is measured beside the loss is known only when the script runs.
        validates: Examples are held back.
        may_lack_validation: They are a test set, which the data may not bring.
        skips_validations: Not after each epoch something is validated.
        tests: A test set is measured at the end.
        may_lack_test: The data may not bring it.
        stops_early: Where the loss gets no better.
        oversamples: Rare classes are repeated.
        keeps_averages: Of the weights.
        follows_loss: The loss decides about the learning rate.
        augments: Examples are changed.
        learns_later: Layers of a base do, from some epoch on.
        measures: Something is measured beside training.
        keeps_best: The weights of the best epoch are kept.
        compares_set_metrics: A metric of the whole set, such as the AUC, says which epoch that is.
    """

    predicts_values: bool
    predicts_several: bool
    names_measures: bool
    validates: bool
    may_lack_validation: bool
    skips_validations: bool
    tests: bool
    may_lack_test: bool
    stops_early: bool
    oversamples: bool
    keeps_averages: bool
    follows_loss: bool
    augments: bool
    learns_later: bool
    measures: bool
    keeps_best: bool
    compares_set_metrics: bool

    @property
    def compares(self) -> bool:
        """Whether one epoch is better than another."""
        return self.stops_early or self.keeps_best


def epoch_needs(profile: Profile) -> EpochNeeds:
    """What the epochs of that profile have to do."""
    data, training = profile.data, profile.training
    predicts_values = data.target_kind is Target.VALUES
    stops_early = training.early_stopping_patience is not None
    keeps_best = data.may_validate and training.keep is not Keep.LAST
    is_set_metric = data.may_validate and training.best_metric.is_set_metric
    return EpochNeeds(
        predicts_values=predicts_values,
        predicts_several=predicts_values and data.may_predict_several,
        names_measures=is_own_code(profile),
        validates=data.may_validate,
        may_lack_validation=data.may_validate_on_test_set and data.has_test_set is None,
        skips_validations=data.may_validate and min(training.validate_every, training.epochs) > 1,
        tests=data.may_test,
        may_lack_test=data.may_test and data.has_test_set is None,
        stops_early=stops_early,
        oversamples=data.oversample,
        keeps_averages=training.ema is not None,
        follows_loss=training.schedule.follows_loss,
        augments=data.chosen_augmentation.changes_anything,
        learns_later=profile.fine_tuning is not None,
        measures=data.may_validate or data.may_test,
        keeps_best=keeps_best,
        compares_set_metrics=is_set_metric and (stops_early or keeps_best),
    )
