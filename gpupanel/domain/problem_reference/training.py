"""Training settings."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Training settings",
    "Settings that cannot be combined, or that change nothing.",
    {
        "deterministic_with_measured_shares": ProblemEntry(
            "Two runs will differ in their last bits, though training.deterministic is on.",
            "Balanced shares are measured, so the order of sums differs from run to run.",
            "Use equal shares, or ones of your own.",
        ),
        "deterministic_with_workers_by_turns": ProblemEntry(
            "Two runs will differ, though training.deterministic is on.",
            "The workers of parameter servers take steps by turns, whoever is free.",
            "Use a synchronous strategy, or switch it off.",
        ),
        "not_deterministic": ProblemEntry(
            "An operation of the training was refused.",
            "All operations are to be deterministic (`training.deterministic`, the variable "
            "`TF_DETERMINISTIC_OPS`, or `enable_op_determinism()` in code of your own), and "
            "TensorFlow has this one in no such form for the device, or it draws random numbers "
            "without a seed.",
            "Switch determinism off, or use another layer in its place.",
        ),
        "early_stopping_before_fine_tuning": ProblemEntry(
            "Early stopping may end the training before fine-tuning begins.",
            "It waits for fewer epochs than come before that.",
            "Wait for more epochs, or begin to fine-tune earlier.",
        ),
        "early_stopping_without_validation": ProblemEntry(
            "Early stopping will watch the training loss.",
            "Nothing is held out for validation.",
            "Hold out a fraction of the examples.",
        ),
        "plateau_after_early_stopping": ProblemEntry(
            "The learning rate never falls.",
            "Early stopping ends the training before the schedule lowers it.",
            "Wait for fewer epochs in the schedule, or for more in early stopping.",
        ),
        "plateau_without_validation": ProblemEntry(
            "The learning rate will follow the training loss.",
            "Nothing is held out for validation.",
            "Hold out a fraction of the examples.",
        ),
        "schedule_beyond_training": ProblemEntry(
            "The learning rate stays what it is.",
            "It would fall after more epochs than the training has.",
            "Let it fall more often, or train longer.",
        ),
        "schedule_key_unused": ProblemEntry(
            "A key of the schedule has no effect.",
            "It belongs to another kind of schedule.",
            "Leave it out, or choose that kind.",
        ),
        "warmup_beyond_training": ProblemEntry(
            "The learning rate never reaches what was set.",
            "It rises for as many epochs as the training has, or more.",
            "Warm up for fewer epochs, or train longer.",
        ),
        "nesterov_without_momentum": ProblemEntry(
            "Nesterov momentum changes nothing.",
            "The momentum is 0.",
            "Set `training.momentum` above 0, such as 0.9.",
        ),
        "momentum_unused": ProblemEntry(
            "The momentum is not used.",
            "The optimizer has no such setting.",
            "Leave it out, or use an optimizer that has one.",
        ),
        "nesterov_unused": ProblemEntry(
            "Nesterov momentum is not used.",
            "The optimizer has no such setting.",
            "Leave it out, or use an optimizer that has it.",
        ),
        "beta_1_unused": ProblemEntry(
            "`beta_1` is not used.",
            "The optimizer has no such setting.",
            "Leave it out, or use an optimizer that has it.",
        ),
        "beta_2_unused": ProblemEntry(
            "`beta_2` is not used.",
            "The optimizer has no such setting.",
            "Leave it out, or use an optimizer that has it.",
        ),
        "epsilon_unused": ProblemEntry(
            "`epsilon` is not used.",
            "The optimizer has no such setting.",
            "Leave it out, or use an optimizer that has it.",
        ),
        "mixed_precision_not_supported": ProblemEntry(
            "A GPU cannot calculate with bfloat16.",
            "That needs compute capability 8.0.",
            "Switch mixed precision off, or use newer GPUs only.",
        ),
        "mixed_precision_on_cpu": ProblemEntry(
            "Mixed precision will make this run slower.",
            "Most CPUs have no fast bfloat16.",
            "Switch it off for a run on the CPU.",
        ),
        "loss_without_classes": ProblemEntry(
            "A focal loss or label smoothing was chosen for values.",
            "Both are of classes, or of several labels.",
            "Leave them out: values are learned by their squared error.",
        ),
        "best_metric_not_measured": ProblemEntry(
            "The best epoch cannot be found by the metric that was chosen.",
            "Accuracy and F1 are of classes and labels, AUC of two classes or labels, the mean "
            "absolute error and R² of values. AUC and R² need validation examples whose labels "
            "differ.",
            'Set `training.best_metric` to `"val_loss"`, which is of all.',
        ),
        "best_epoch_without_validation": ProblemEntry(
            "The best epoch's weights are to be kept, and nothing is validated.",
            "Without validation examples nothing shows which epoch is the best: the model has the "
            "last weights.",
            "Hold out a fraction of the examples, or leave `training.keep` out.",
        ),
        "loss_not_finite": ProblemEntry(
            "The loss, or the gradient, became NaN or infinite, and the training ended.",
            "The learning rate is too high, or the data has extreme values.",
            "Lower the learning rate, or scan the data; complete checkpoints are kept.",
        ),
        "stopped_early": ProblemEntry(
            "The training ended before its last epoch.",
            "The loss has not fallen for as many epochs as early stopping waits.",
            "Nothing is wrong; raise `training.early_stopping_patience` to wait longer.",
        ),
        "fine_tuning_beyond_training": ProblemEntry(
            "Only the new last layer learns.",
            "Fine-tuning would begin after the last epoch.",
            "Begin earlier, or train longer.",
        ),
        "fine_tuning_unused": ProblemEntry(
            "Nothing changes with the epoch in which fine-tuning begins.",
            "The base is frozen after it, or all layers learn before it.",
            "Let layers of the base learn then, or leave fine-tuning out.",
        ),
        "fine_tune_learning_rate_unused": ProblemEntry(
            "The learning rate for fine-tuning has no effect.",
            "No epoch is set in which fine-tuning begins.",
            "Leave it out, or set `model.fine_tune_from_epoch`.",
        ),
        "head_learns_from_drawn_base": ProblemEntry(
            "The new last layer learns from random weights.",
            "The base has no pretrained weights and is frozen at first.",
            "Begin with pretrained weights, or let all layers learn from the first epoch.",
        ),
        "drawn_layers_frozen": ProblemEntry(
            "Frozen layers keep random weights and never learn.",
            "The model has no pretrained weights.",
            "Begin with pretrained weights, or train all layers.",
        ),
        "class_weights_unknown_class": ProblemEntry(
            "A class is weighted that the data does not have.",
            "Its name is mistyped, or the data has changed.",
            "Name classes of the data: the message lists them.",
        ),
        "predictions_at_random": ProblemEntry(
            "Some layers draw at random also when the model predicts, so that its figures and "
            "predictions are others each time.",
            "A layer of your own draws without asking whether it is trained.",
            "Nothing needs to be done if that is wanted, as of Monte Carlo dropout. Otherwise let "
            "it draw only where its `call` gets `training=True`.",
        ),
        "random_numbers_by_split": ProblemEntry(
            "What some layers draw at random, or take from other examples, depends on how a batch "
            "is divided.",
            "They do not draw by Keras's `uniform`, `normal`, `truncated_normal`, `randint`, "
            "`dropout`, `gamma`, `beta` or `categorical`, but by TensorFlow, NumPy or Python, by "
            "another distribution, by permuting a batch, or for examples that are not the first "
            "axis. "
            "Keras's `MixUp`, `CutMix`, `AugMix`, `RandAugment` and `Equalization` mix the "
            "examples of a call. The same shares and accumulation give the same training again; "
            "others do not.",
            "Draw by `keras.random`, the examples first in the shape; change images by "
            "`[data.augmentation]`; or train on one device without accumulation.",
        ),
        "class_weights_without_classes": ProblemEntry(
            "Class weights were set, and the labels are not classes.",
            "Only classes can be weighted.",
            'Weight all classes equally (`"none"`).',
        ),
        "oversample_with_class_weights": ProblemEntry(
            "Rare classes would count twice.",
            "They are oversampled and weighted.",
            "Use one of the two.",
        ),
        "oversample_without_classes": ProblemEntry(
            "Oversampling was set, and the labels are not classes.",
            "Only classes can be oversampled.",
            "Take each example once an epoch.",
        ),
        "oversample_too_long": ProblemEntry(
            "An epoch would have more examples than can be counted.",
            "Every class is repeated up to the most frequent one.",
            'Turn oversampling off, and weight classes instead (`"balanced"`).',
        ),
        "augmentation_needs_colours": ProblemEntry(
            "The hue of these images cannot be changed.",
            "They are not red, green and blue.",
            "Set `data.augmentation.hue` to 0.",
        ),
        "augmentation_needs_pictures": ProblemEntry(
            "The examples cannot be flipped, moved or coloured.",
            "They are not images.",
            "Leave augmentation out, but for mixup, or choose images.",
        ),
        "batch_above_examples": ProblemEntry(
            "Each epoch is one step that is smaller than the batch.",
            "The global batch is larger than the training set.",
            "Use a smaller global batch.",
        ),
        "image_size_suggested": ProblemEntry(
            "The images would lose much at the chosen size.",
            "Most of them are larger, or of other sides.",
            "Take the size that is proposed; larger images cost more memory and time.",
        ),
        "model_suggested": ProblemEntry(
            "Another model usually learns more from these examples.",
            "Plain layers do not see that pixels are neighbours.",
            "Take it, or keep the model.",
        ),
        "last_classes_held_out": ProblemEntry(
            "The validation set would have classes that are never trained on.",
            "The examples are sorted by class, and the last ones are held out.",
            "Hold out examples at random.",
        ),
    },
)
