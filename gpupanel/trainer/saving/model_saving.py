"""Saves a model, with what a run says of its data, into a file that plain Keras loads."""

import json
import zipfile
from pathlib import Path

import tensorflow as tf

from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER, TrainedOn, TrainedOutput
from gpupanel.files.guarded_files import open_to_write, remove, rename
from gpupanel.files.named_descriptors import named_file
from gpupanel.trainer.datasets.learned_from import LearnedFrom
from gpupanel.trainer.learner import Learner

_HOST = "/device:CPU:0"


def save_model(learner: Learner, path: Path, learned: LearnedFrom) -> None:
    """Save a model that plain Keras loads, whatever the strategy made of the trained one.

    Args:
        learner: Has it.
        path: Of its file.
        learned: From which data.

    Raises:
        OSError: It cannot be written; a model that was there before stays.
    """
    beside = path.with_name(f".partial-{path.name}")
    with tf.device(_HOST):
        model = learner.plain_model()
    remove(beside)
    try:
        data = learner.built.building.data
        trained_on = TrainedOn(
            predicts=data.target,
            outputs=learner.built.output_form,
            class_names=data.class_names,
            parts=tuple(
                TrainedOutput(
                    name=each.name,
                    predicts=each.target,
                    class_names=each.class_names,
                    weight=learner.own.weights.get(each.name, 1.0),
                )
                for each in data.outputs
            ),
            own_metrics=tuple(learner.own.metrics),
            data=learned.data,
            content=learned.content.content,
            held_out=learned.held_out,
            learned=learned.content.learned,
            sample=learned.content.sample,
            value_range=learned.content.value_range,
            edges=learned.content.edges,
        )
        with open_to_write(beside) as file:
            # Keras opens it by its name, wherever a link of its own name would lead by now.
            with named_file(file.fileno(), path.name) as name:
                model.save(name)
            # Keras passes over what it did not write.
            with zipfile.ZipFile(file, "a") as archive:
                archive.writestr(TRAINED_ON_MEMBER, json.dumps(trained_on.model_dump(mode="json")))
                if data.recipe:
                    archive.writestr(RECIPE_MEMBER, data.recipe)
        rename(beside, path)
    finally:
        remove(beside)
