"""The metric of all trials of a sweep by epoch, as their runs' events say."""

from collections.abc import Mapping

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.sweeps.epoch_values import EpochValues
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import SweepTrial


class TrialValues:
    """Reads the events of each trial as they grow.

    Args:
        layout: The sweep.
        metric: By which its trials are compared.
    """

    def __init__(self, layout: SweepLayout, metric: str) -> None:
        self._layout = layout
        self._metric = metric
        self._growing: dict[int, EpochValues] = {}
        self._final: dict[int, Mapping[int, float]] = {}

    def of(self, trial: SweepTrial) -> Mapping[int, float]:
        """The values of a trial by epoch; none where its run cannot be read any more."""
        if trial.run is None:
            return {}
        if trial.number in self._final:
            return self._final[trial.number]
        if trial.number not in self._growing:
            layout = RunLayout(self._layout.runs_dir / trial.run)
            self._growing[trial.number] = EpochValues(layout, self._metric)
        try:
            values = self._growing[trial.number].read()
        except OSError:
            values = {}  # a run that somebody removed, or put something else in the place of
        if trial.ended is not None:
            self._final[trial.number] = values
        return values

    def of_model(self, trial: SweepTrial) -> Mapping[int, float]:
        """As :meth:`of`; only that of the epoch whose weights its model has, where that is known.

        It may have been chosen by another metric.
        """
        values, followed = self.of(trial), self._growing.get(trial.number)
        kept = None if followed is None else followed.kept_epoch
        return {kept: values[kept]} if kept is not None and kept in values else values
