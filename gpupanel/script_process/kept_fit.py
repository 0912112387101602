"""What a ``fit`` continues from that was suspended, or whose program was killed.

At the end of an epoch the weights, the optimizer, the state of random layers and of the program's
callbacks are kept. The program begins anew when it continues: the same call of ``fit`` then takes
its finished epochs' batches without training on them, so that data and shuffling are where they
were, and has all of that put back. So its losses are those of a training that was never
interrupted, where the program draws its random numbers from seeds.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import Any

from .callback_state import StateCodec
from .reports import Reports

_LEAST_INTERVAL_S = 60.0
"""Between two keepings that nobody asks for."""
_MOST_OF_TIME = 0.01
"""They take no more than this share of the time."""


class KeptFit:
    """Keeps the state of one call of ``fit``, and puts it back.

    Args:
        keras: The module.
        reports: Where it is said that the program was suspended.
        folder: Of the run; empty: nothing is kept.
        call: Which call of ``fit`` of the program it is, from 0.

    Attributes:
        epochs: Finished epochs that are taken without training; 0: none.
        before: Steps and epochs of the calls before, and the steps of this one, when it was kept.
        can_suspend: Whether it looks after each epoch whether it should.
    """

    def __init__(self, keras: Any, reports: Reports, folder: str, call: int) -> None:
        import numpy

        self.can_suspend = bool(folder)
        self._numpy = numpy
        self._keras = keras
        self._reports = reports
        self._call = call
        self._file = os.path.join(folder, "program", "fit.npz") if folder else ""
        self._suspend = os.path.join(folder, "requests", "suspend") if folder else ""
        self._noted: tuple[int, tuple[int, int, int]] | None = None
        self._kept_s = time.monotonic()
        self._took_s = 0.0
        self._kept = self._read()
        self.epochs = self._kept["epochs"] if self._kept else 0
        self.before = tuple(self._kept["before"]) if self._kept else (0, 0, 0)

    def callbacks(self, model: Any, theirs: list[Any]) -> tuple[Any, list[Any]]:
        """The callback that keeps and puts back, which comes first; and the program's own.

        These hear nothing of epochs that were finished before.
        """
        kept, base = self, self._keras.callbacks.Callback
        if any(isinstance(each, self._keras.callbacks.BackupAndRestore) for each in theirs):
            # The program does it itself: that comes before, and both would be one too many.
            self._file, self._kept, self.epochs = "", {}, 0
        muted = [_muted(base, each, kept) for each in theirs] if self.epochs else theirs

        class Keeper(base):  # type: ignore[misc, valid-type]
            async_safe = True

            def on_train_begin(self, logs: Any = None) -> None:
                self._functions = model.train_function, model.test_function
                if kept.epochs and kept.fits(model, theirs):
                    model.train_function, model.test_function = kept.take_batches(model), _nothing
                    # Metrics that nothing was measured by yet refuse to be asked.
                    vars(model)["get_metrics_result"] = dict

            def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
                if epoch < kept.epochs:
                    return
                if epoch == kept.epochs and kept.epochs:
                    model.train_function, model.test_function = self._functions
                    del vars(model)["get_metrics_result"]
                    kept.put_back(model, theirs)
                elif kept.is_due():
                    kept.keep(model, theirs, epoch)

            def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
                """Nothing: Keras's own would call one more method at each step."""

            on_train_batch_end = on_train_batch_begin

            def on_train_end(self, logs: Any = None) -> None:
                kept.forget()

        return Keeper(), muted

    def take_batches(self, model: Any) -> Any:
        """What stands for a step of training in an epoch that was finished before."""

        def take(iterator: Any) -> dict[str, Any]:
            for _ in range(int(model.steps_per_execution)):
                next(iterator)
            return {}

        return take

    def is_due(self) -> bool:
        """Whether the state is to be kept now, between two epochs."""
        if self._noted is None:
            return False  # no epoch has ended in this process
        if os.path.exists(self._suspend):
            return True
        if not self._file:
            return False
        least_s = max(_LEAST_INTERVAL_S, self._took_s / _MOST_OF_TIME)
        return time.monotonic() - self._kept_s >= least_s

    def keep(self, model: Any, theirs: list[Any], epoch: int) -> None:
        """Keep the state before an epoch; ends the program where somebody asks to suspend."""
        begun_s = time.monotonic()
        is_kept = True
        if self._file and self._noted is not None:
            try:
                self._write(model, theirs, epoch, *self._noted)
            except Exception as error:  # a full disk, logs that are no numbers: the program goes on
                is_kept = False
                self._reports.write("not_kept", message=f"{type(error).__name__}: {error}"[:200])
        self._kept_s = time.monotonic()
        self._took_s = self._kept_s - begun_s
        if is_kept and os.path.exists(self._suspend):
            self._reports.write("suspended", epoch=epoch)
            raise SystemExit(0)

    def put_back(self, model: Any, theirs: list[Any]) -> None:
        """Put the state back that was kept."""
        to_numpy = self._keras.ops.convert_to_numpy
        for variable, kept in zip(_variables(model), self._kept["variables"], strict=True):
            own = to_numpy(variable)
            variable.assign(kept.view(own.dtype).reshape(own.shape))
        codec = StateCodec(self._numpy, self._keras.ops, self._kept["arrays"])
        for callback, written in zip(theirs, self._kept["callbacks"], strict=True):
            codec.put_back(callback, written)
        model.history.history = self._kept["history"]
        model.history.epoch = list(range(self._kept["first"], self._kept["epochs"]))

    def note(self, first: int, steps: tuple[int, int, int]) -> None:
        """Hear what is kept beside: the first epoch of this call, and :attr:`before`."""
        self._noted = first, steps

    def forget(self) -> None:
        """Remove what was kept of this call, which has come to its end."""
        if self._file and os.path.exists(self._file):
            os.remove(self._file)

    def _write(
        self, model: Any, theirs: list[Any], epoch: int, first: int, before: tuple[int, int, int]
    ) -> None:
        numpy = self._numpy
        arrays = {}
        for number, variable in enumerate(_variables(model)):
            value = numpy.asarray(self._keras.ops.convert_to_numpy(variable))
            # NumPy writes no bfloat16: as bytes every type comes back as it was.
            arrays[f"v{number}"] = numpy.frombuffer(value.tobytes(), numpy.uint8)
        of_callbacks: dict[str, Any] = {}
        codec = StateCodec(numpy, self._keras.ops, of_callbacks)
        callbacks = [codec.written(callback) for callback in theirs]
        said = {
            "call": self._call,
            "first": first,
            "epochs": epoch,
            "before": before,
            "shapes": _shapes(model),
            "build": model.get_build_config(),
            "callbacks": callbacks,
            "history": model.history.history,
        }
        arrays.update(of_callbacks)
        arrays["said"] = numpy.frombuffer(json.dumps(said).encode(), numpy.uint8)
        os.makedirs(os.path.dirname(self._file), exist_ok=True)
        beside = self._file + ".new.npz"
        numpy.savez(beside, **arrays)
        os.replace(beside, self._file)

    def _read(self) -> dict[str, Any]:
        """What was kept of this call; nothing where nothing was, or it is of another one."""
        if not self._file or not os.path.exists(self._file):
            return {}
        try:
            with self._numpy.load(self._file, allow_pickle=False) as file:
                said: dict[str, Any] = json.loads(file["said"].tobytes())
                if said["call"] != self._call:
                    return {}
                said["variables"] = [file[f"v{number}"] for number in range(len(said["shapes"]))]
                said["arrays"] = {name: file[name] for name in file.files if name[0] == "a"}
                return said
        except Exception as error:  # a damaged archive has many ways to say so
            self._reports.write("kept_unreadable", message=str(error)[:200])
            return {}

    def _build(self, model: Any) -> None:
        """Build a model that waits for its first batch, as it was built then."""
        if model.built or not self._kept["build"]:
            return
        with suppress(Exception):  # whatever a model of the person's own says of it
            model.build_from_config(self._kept["build"])

    def fits(self, model: Any, theirs: list[Any]) -> bool:
        """Whether what was kept is of this model and of as many callbacks."""
        if not self._kept:
            return False
        self._build(model)
        # An optimizer that is built for no variables would take none later.
        alike = model.built and self._kept["shapes"] == _shapes(model)
        if alike:
            sizes = [self._keras.ops.convert_to_numpy(each).nbytes for each in _variables(model)]
            alike = sizes == [value.nbytes for value in self._kept["variables"]]
        if alike and len(theirs) == len(self._kept["callbacks"]):
            return True
        self._reports.write("kept_unreadable", message="the model has changed since")
        self._kept, self.epochs, self.before = {}, 0, (0, 0, 0)
        return False


def _nothing(_iterator: Any) -> dict[str, Any]:
    return {}


def _variables(model: Any) -> list[Any]:
    """Weights, the state of random layers, and the optimizer; metrics begin anew in each epoch."""
    of_metrics = {id(variable) for metric in model.metrics for variable in metric.variables}
    if not model.optimizer.built:
        model.optimizer.build(model.trainable_variables)
    own = [variable for variable in model.variables if id(variable) not in of_metrics]
    return [*own, *model.optimizer.variables]


def _shapes(model: Any) -> list[Any]:
    return [[*map(int, each.shape)] for each in _variables(model)]


def _muted(base: Any, theirs: Any, kept: KeptFit) -> Any:
    """A callback of the program that hears nothing of finished epochs, but that training begins."""
    if hasattr(theirs, "append") and hasattr(theirs, "filename"):
        theirs.append = True  # a CSVLogger would begin its file anew

    class Muted(base):  # type: ignore[misc]
        async_safe = getattr(theirs, "async_safe", False)
        heard = False

        def set_model(self, model: Any) -> None:
            theirs.set_model(model)

        def set_params(self, params: Any) -> None:
            theirs.set_params(params)

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self.heard = epoch >= kept.epochs
            if self.heard:
                theirs.on_epoch_begin(epoch, logs)

    def passed_on(name: str, *, always: bool) -> Any:
        def call(self: Any, *arguments: Any, **named: Any) -> None:
            if always or self.heard:
                getattr(theirs, name)(*arguments, **named)

        return call

    for name in dir(base):
        if name.startswith("on_") and name != "on_epoch_begin":
            is_default = getattr(type(theirs), name) is getattr(base, name)
            always = name in ("on_train_begin", "on_train_end")
            # One that is not its own stays Keras's: of that depends how callbacks are called.
            if not is_default:
                setattr(Muted, name, passed_on(name, always=always))
    return Muted()
