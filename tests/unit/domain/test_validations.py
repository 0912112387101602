"""After which epochs a model is validated."""

from gpupanel.domain.training import TrainingSettings


def test_that_an_epoch_is_validated_by_its_number_and_the_last_one_always() -> None:
    def validated(every: int) -> list[int]:
        training = TrainingSettings(epochs=7, validate_every=every)
        return [epoch for epoch in range(1, 8) if training.validates_after(epoch)]

    assert validated(1) == [1, 2, 3, 4, 5, 6, 7]
    assert validated(3) == [3, 6, 7]
    assert validated(100) == [7]
    for every in (1, 3, 7, 100):
        training = TrainingSettings(epochs=7, validate_every=every)
        assert training.validations_an_epoch == len(validated(every)) / 7
