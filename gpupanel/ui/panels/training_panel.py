"""How the model is trained: epochs, batch, optimizer, and what is kept."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from gpupanel.domain.training import MOST_MINUTES, Optimizer, TrainingSettings
from gpupanel.ui.widgets.choice_box import Choice, ChoiceBox
from gpupanel.ui.widgets.counter import Counter
from gpupanel.ui.widgets.optional_real import OptionalReal
from gpupanel.ui.widgets.real_spin_box import FRACTION, POSITIVE, RealRange, RealSpinBox
from gpupanel.ui.widgets.settings_form import SettingsCard, SettingsForm, teach

_OPTIMIZERS = (
    Choice(Optimizer.ADAM, "Adam", "Adapts the step of each weight; a good first choice."),
    Choice(Optimizer.ADAMW, "AdamW", "Adam with weights that decay a little at each update."),
    Choice(Optimizer.SGD, "SGD", "Plain steps down the gradient, with momentum if you like."),
    Choice(Optimizer.RMSPROP, "RMSprop", "Divides each step by how large recent gradients were."),
)
_MOST_RESTARTS = 100
_MOST_RETRIES = 10
_WITH_MOMENTUM = (Optimizer.SGD, Optimizer.RMSPROP)

_EPOCHS_TIP = "How many times the training goes through all examples."
_BATCH_TIP = (
    "Examples of one optimizer update, over all replicas together. Each replica takes its share "
    "of them, so the result does not depend on how many devices train."
)
_ACCUMULATION_TIP = (
    "Each replica takes its share in this many smaller parts and applies the summed gradient "
    "once. It needs less memory and is the same mathematics."
)
_OPTIMIZER_TIP = "The rule that turns gradients into changes of the weights."
_RATE_TIP = (
    "How large a step each update makes. You can type 1e-3; the arrows go 1, 2, 5, 10. Too large "
    "and the loss jumps, too small and it hardly falls."
)
_MOMENTUM_TIP = (
    "How much of the last step goes on in the next one, from 0 to below 1. SGD and RMSprop only: "
    "Adam and AdamW keep a momentum of their own."
)
_SEED_TIP = (
    "Decides the order of the examples, which are held back for validation, and the first "
    "weights. The same seed gives the same training."
)
_CHECKPOINT_TIP = "Save the weights and the optimizer's state after so many epochs; 0 saves none."
_MINUTES_TIP = (
    "Also save one within an epoch, when the last one is so many minutes old: what a power cut "
    "can cost is then at most that."
)
_KEPT_TIP = "So many of the newest checkpoints stay on the disk; older ones are deleted."
_BEST_TIP = (
    "Of the checkpoints saved at the end of an epoch, the one with the least validation loss (the "
    "training loss where nothing is validated) stays on the disk, however old it is."
)
_MEMORY_TIP = (
    "When the run ends because memory was not enough, start it again by itself with less at a "
    "time: twice the accumulation steps, which is the same mathematics. The run tells what it "
    "changed."
)
_PATIENCE_TIP = (
    "End when the validation loss (the training loss where nothing is validated) has not fallen "
    "for so many epochs."
)
_CLIP_TIP = (
    "Scale the gradient of an update down to this norm when it is longer: one strange batch then "
    "cannot throw the weights far. It is taken of the whole gradient, after the replicas' parts "
    "were summed."
)
_RESTART_TIP = (
    "When a process of the run dies or hangs, end the others and start all of them again from the "
    "last checkpoint, so many times at most."
)
_MIXED_TIP = (
    "Compute in 16-bit floats and keep the weights in 32: about half the memory, and faster on "
    "GPUs with tensor cores (compute capability 7.0 or more). On a CPU it is slower."
)
_JIT_TIP = (
    "Let XLA compile the step for the device. The first step takes longer; later ones may be "
    "faster."
)
_TENSORBOARD_TIP = "Also write TensorBoard event files into the run's directory."


class TrainingPanel(SettingsCard):
    """Edits :class:`TrainingSettings`."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Training", parent)
        self.setObjectName("training_panel")
        self._value = TrainingSettings()
        self._epochs = Counter(1)
        self._batch = Counter(1, unit="example")
        self._accumulation = Counter(1)
        self._optimizer = ChoiceBox(_OPTIMIZERS)
        self._rate = RealSpinBox(POSITIVE)
        self._momentum = RealSpinBox(FRACTION, step=0.05)
        self._clip = OptionalReal(POSITIVE, first=1.0, name="Clip norm", tip=_CLIP_TIP)
        self._seed = Counter()
        self._checkpoint = Counter(zero="never", before="every ", unit="epoch")
        self._minutes = OptionalReal(
            RealRange(lowest_allowed=False, below=MOST_MINUTES),
            first=10.0,
            name="Minutes between checkpoints",
            tip=_MINUTES_TIP,
            off="never within an epoch",
            unit="minutes",
        )
        self._kept = Counter(1, before="the newest ")
        self._best = QCheckBox("Keep the &best one, too")
        self._patience = Counter(zero="off", before="after ", unit="epoch")
        self._restarts = Counter(zero="never", before="up to ", unit="time")
        self._restarts.setMaximum(_MOST_RESTARTS)
        self._memory = Counter(zero="end the run", before="retry up to ", unit="time")
        self._memory.setMaximum(_MOST_RETRIES)
        self._mixed = QCheckBox("Mi&xed precision")
        self._jit = QCheckBox("XLA (&jit_compile)")
        self._tensorboard = QCheckBox("&TensorBoard files")
        self._lay_out()
        self._connect()
        self.setValue(self._value)

    def value(self) -> TrainingSettings:
        """The settings as shown."""
        return self._value

    def setValue(self, value: TrainingSettings) -> None:
        """Shows other settings without telling anyone."""
        self._value = value
        self._epochs.setCount(value.epochs)
        self._batch.setCount(value.global_batch_size)
        self._accumulation.setCount(value.accumulation_steps)
        self._optimizer.setChoice(value.optimizer)
        self._rate.setNumber(value.learning_rate)
        self._momentum.setNumber(value.momentum)
        self._momentum.setEnabled(value.optimizer in _WITH_MOMENTUM)
        self._clip.setNumber(value.clip_norm)
        self._seed.setCount(value.seed)
        self._checkpoint.setCount(value.checkpoint_every_epochs)
        self._minutes.setNumber(value.checkpoint_every_minutes)
        self._kept.setCount(value.checkpoints_kept)
        self._patience.setCount(value.early_stopping_patience or 0)
        self._restarts.setCount(value.max_restarts)
        self._memory.setCount(value.out_of_memory_retries)
        for box, checked in (
            (self._best, value.keep_best_checkpoint),
            (self._mixed, value.mixed_precision),
            (self._jit, value.jit_compile),
            (self._tensorboard, value.tensorboard),
        ):
            box.setChecked(checked)

    def _lay_out(self) -> None:
        form = SettingsForm(self)
        form.add_row("&Epochs", self._epochs, _EPOCHS_TIP)
        form.add_row("&Global batch size", self._batch, _BATCH_TIP)
        form.add_row("&Accumulation steps", self._accumulation, _ACCUMULATION_TIP)
        form.add_row("&Optimizer", self._optimizer, _OPTIMIZER_TIP)
        form.add_row("&Learning rate", self._rate, _RATE_TIP)
        form.add_row("&Momentum", self._momentum, _MOMENTUM_TIP)
        form.add_row("Cl&ip gradients", self._clip, _CLIP_TIP)
        form.add_row("See&d", self._seed, _SEED_TIP)
        form.add_row("Chec&kpoint", self._checkpoint, _CHECKPOINT_TIP)
        form.add_row("I&n long epochs", self._minutes, _MINUTES_TIP)
        form.add_row("Checkpoints kept", self._kept, _KEPT_TIP)
        self._add_box(form, self._best, _BEST_TIP)
        form.add_row("Early sto&pping", self._patience, _PATIENCE_TIP)
        form.add_row("Restart b&y itself", self._restarts, _RESTART_TIP)
        form.add_row("Out o&f memory", self._memory, _MEMORY_TIP)
        for box, tip in (
            (self._mixed, _MIXED_TIP),
            (self._jit, _JIT_TIP),
            (self._tensorboard, _TENSORBOARD_TIP),
        ):
            self._add_box(form, box, tip)
        self.body.addWidget(form)

    @staticmethod
    def _add_box(form: SettingsForm, box: QCheckBox, tip: str) -> None:
        teach(box, box.text().replace("&", ""), tip)
        form.add_wide(box)

    def _connect(self) -> None:
        for field, counter in (
            ("epochs", self._epochs),
            ("global_batch_size", self._batch),
            ("accumulation_steps", self._accumulation),
            ("seed", self._seed),
            ("checkpoint_every_epochs", self._checkpoint),
            ("checkpoints_kept", self._kept),
            ("max_restarts", self._restarts),
            ("out_of_memory_retries", self._memory),
        ):
            counter.countChanged.connect(partial(self._change, field))
            self.set_editor(field, counter)
        for field, box in (
            ("keep_best_checkpoint", self._best),
            ("mixed_precision", self._mixed),
            ("jit_compile", self._jit),
            ("tensorboard", self._tensorboard),
        ):
            box.toggled.connect(partial(self._change, field))
            self.set_editor(field, box)
        for field, number in (("learning_rate", self._rate), ("momentum", self._momentum)):
            number.numberChanged.connect(partial(self._change, field))
            self.set_editor(field, number)
        for field, optional in (
            ("clip_norm", self._clip),
            ("checkpoint_every_minutes", self._minutes),
        ):
            optional.numberChanged.connect(partial(self._change, field))
            self.set_editor(field, optional)
        self._optimizer.choiceMade.connect(partial(self._change, "optimizer"))
        self.set_editor("optimizer", self._optimizer)
        self._patience.countChanged.connect(self._change_patience)
        self.set_editor("early_stopping_patience", self._patience)

    def _change_patience(self, epochs: int) -> None:
        self._change("early_stopping_patience", epochs or None)

    def _change(self, field: str, choice: object) -> None:
        value = TrainingSettings.model_validate({**self._value.model_dump(), field: choice})
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)
