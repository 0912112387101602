"""What Keras's ``fit`` does in the program, reported as it happens; its results stay the same.

A callback of ours stands behind those of the program. It is safe to be called beside the training
(``async_safe``, as Keras asks), so Keras goes on as it would without it.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
import time
from typing import Any

from .kept_fit import KeptFit
from .reports import Reports

_LEAST_INTERVAL_S = 0.1
"""Between two reports of steps: one takes 0.1 ms where a step has just emptied the caches."""


def watch(keras: Any, settings: dict[str, Any], reports: Reports) -> None:
    """Report every ``fit`` of a Keras that was just imported.

    Args:
        keras: The module.
        settings: See :func:`hooks.begin`.
        reports: Where the steps are reported.
    """
    version = getattr(keras, "__version__", "0")
    if int(version.split(".")[0]) < 3:
        reports.write("keras_not_watched", version=version)
        return
    if settings["mirrored"]:
        import tensorflow as tf

        strategy = tf.distribute.MirroredStrategy(settings["mirrored"])
        tf.distribute.experimental_set_strategy(strategy)
    folder = os.environ.get("GPUPANEL_RUN", "") if keras.backend.backend() == "tensorflow" else ""
    original = keras.Model.fit
    signature = inspect.signature(original)
    progress = _Progress()

    @functools.wraps(original)
    def fit(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            given = signature.bind(self, *arguments, **named)
        except TypeError:
            return original(self, *arguments, **named)  # Keras says what is wrong
        kept = KeptFit(keras, reports, folder, progress.calls)
        progress.calls += 1
        theirs = given.arguments.get("callbacks")
        ours = _callback(keras, reports, progress, _known_size(given.arguments), self, kept)
        if isinstance(theirs, keras.callbacks.CallbackList):
            theirs.append(ours)  # its own list: such a fit is followed, and not kept
        else:
            several = theirs if isinstance(theirs, (list, tuple)) else [theirs]
            own = [each for each in several if each is not None]
            keeper, heard = kept.callbacks(self, own)
            given.arguments["callbacks"] = [keeper, *heard, ours]
        return original(*given.args, **given.kwargs)

    keras.Model.fit = fit


class _Progress:
    """Steps, epochs and number of all calls of ``fit`` of the program."""

    def __init__(self) -> None:
        self.steps = self.epochs = self.calls = 0


def _known_size(arguments: dict[str, Any]) -> Any:
    try:
        return _batch_size(arguments)
    except Exception:
        return None  # data of a kind of its own


def _batch_size(arguments: dict[str, Any]) -> Any:
    """Examples of a full batch; ``None``: it is not known without reading the data."""
    x = arguments.get("x")
    spec = getattr(x, "element_spec", None)
    if spec is not None:
        first = spec
        while isinstance(first, (tuple, list, dict)) and first:
            first = next(iter(first.values())) if isinstance(first, dict) else first[0]
        shape = getattr(first, "shape", None)
        return shape[0] if shape is not None and shape.rank else None
    if arguments.get("batch_size") is not None:
        return arguments["batch_size"]
    first = x
    while isinstance(first, (tuple, list, dict)) and first:
        first = next(iter(first.values())) if isinstance(first, dict) else first[0]
    is_array = hasattr(first, "shape") and hasattr(first, "dtype")
    return 32 if is_array else None  # Keras's default, which generators do not have


def _callback(
    keras: Any, reports: Reports, progress: _Progress, size: Any, model: Any, kept: KeptFit
) -> Any:
    """A callback for one call of ``fit``."""
    base: Any = keras.callbacks.Callback

    class Panel(base):  # type: ignore[misc]
        async_safe = True

        def __init__(self) -> None:
            super().__init__()
            self._lock = threading.Lock()
            self._written_s = self._training_s = self._begun_s = 0.0
            self._first_step = self._first_epoch = 0
            self._step = self._reported = self._before_epoch = self._epoch = 0
            self._offset: int | None = None
            self._has_begun = False
            self._pending: Any = None

        def on_train_begin(self, logs: Any = None) -> None:
            self._first_step, self._first_epoch = progress.steps, progress.epochs

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            if self._offset is None:
                # ``initial_epoch``: those before it were not trained here.
                self._offset = epoch
            if epoch < kept.epochs:
                return
            if epoch == kept.epochs and epoch > self._offset:
                self._first_step, self._first_epoch, self._step = kept.before
                self._reported = self._step
                step, done = self._first_step + self._step, epoch - self._offset
                reports.write("resumed", step=step, epoch=self._first_epoch + done + 1)
            if not self._has_begun:
                self._has_begun = True
                epochs = self._first_epoch + self.params["epochs"] - self._offset
                reports.write(
                    "fit", epochs=epochs, steps=self.params["steps"], keeps=kept.can_suspend
                )
            self._epoch = self._first_epoch + epoch - self._offset + 1
            self._begun_s = self._training_s = time.monotonic()
            self._before_epoch = self._step

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            """Nothing: Keras's own would call one more method at each step."""

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if not self._has_begun:
                return
            with self._lock:
                # Where Keras calls beside the training, the calls may come in another order.
                self._step = max(self._step, self._before_epoch + batch + 1)
                self._pending = logs
                now_s = time.monotonic()
                if now_s - self._written_s >= _LEAST_INTERVAL_S:
                    self._report(now_s)

        def _report(self, now_s: float) -> None:
            steps = self._step - self._reported
            if not steps or self._pending is None:
                return
            s = now_s - self._training_s
            self._training_s = self._written_s = now_s
            self._reported = self._step
            reports.write(
                "steps",
                step=self._first_step + self._step,
                steps=steps,
                epoch=self._epoch,
                step_in_epoch=self._step - self._before_epoch,
                s=s,
                batch_size=size,
                figures=_numbers(self._pending),
            )
            self._pending = None

        def on_test_begin(self, logs: Any = None) -> None:
            with self._lock:
                self._report(time.monotonic())

        def on_test_end(self, logs: Any = None) -> None:
            self._training_s = time.monotonic()  # a validation is no training

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            if not self._has_begun:
                return
            with self._lock:
                self._report(time.monotonic())
            kept.note(self._offset or 0, (self._first_step, self._first_epoch, self._step))
            progress.steps = self._first_step + self._step
            progress.epochs = self._epoch
            reports.write(
                "epoch",
                epoch=self._epoch,
                step=progress.steps,
                s=time.monotonic() - self._begun_s,
                learning_rate=_learning_rate(model),
                figures=_numbers(logs),
            )

    return Panel()


def _learning_rate(model: Any) -> float | None:
    """Of the next update; ``None``: the optimizer has none that is a number now."""
    try:
        return float(model.optimizer.learning_rate)
    except Exception:
        return None


def _numbers(logs: Any) -> dict[str, float]:
    """The logs that are numbers, by their names."""
    numbers = {}
    for name, value in (logs or {}).items():
        try:
            numbers[str(name)] = float(value)
        except (TypeError, ValueError):
            continue
    return numbers
