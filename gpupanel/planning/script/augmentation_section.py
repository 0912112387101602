"""How a script changes training examples, as training does."""

from collections.abc import Iterator
from string import Template

from gpupanel.domain.augmentation import NO_AUGMENTATION
from gpupanel.domain.data import DataSettings, Scaling, Target
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined, lines_of

_DRAWN = '''
CHANGES = Changes($changes)


def drawn_in(epoch, count):
    """What is drawn for each example, by the seed and the epoch."""
    return draw_epoch(CHANGES, $size, count, SEED, epoch)
'''
_BLENDED = """
    own_part = drawn[:, Drawn.OWN_PART]
    return [blended(each, tf.roll(each, 1, axis=0), own_part) for each in (features, labels)]
"""


def augmentation_section(data: DataSettings) -> str:
    """Python that defines ``drawn_in`` and ``augmented``; empty where nothing is changed."""
    augmentation = data.chosen_augmentation
    if not augmentation.changes_anything:
        return ""
    usual = NO_AUGMENTATION.model_dump(mode="json")
    chosen = augmentation.model_dump(mode="json")
    changes = ", ".join(
        f"{name}={chosen[name]!r}" for name in chosen if chosen[name] != usual[name]
    )
    size = "x.shape[1:3]" if augmentation.changes_images else "(1, 1)"
    needed = ["draw_epoch", "Drawn"]
    needed += ["changed_images"] if augmentation.changes_images else []
    needed += ["blended"] if augmentation.mixup else []
    return joined(
        part("augmentation", *needed),
        Template(_DRAWN).substitute(changes=changes, size=size),
        lines_of(_augmented(data)),
    )


def _augmented(data: DataSettings) -> Iterator[str]:
    augmentation = data.chosen_augmentation
    are_blended = augmentation.mixup > 0
    what = "; each blended with the one before it in the batch" if are_blended else ""
    yield "def augmented(features, labels, drawn):"
    yield f'    """The examples changed{what}."""'
    if augmentation.changes_images:
        greatest = f"{data.greatest}.0"
        if data.scaling is not Scaling.DIVIDE:  # not all pixels are bytes
            greatest += " if x.dtype == np.uint8 else None"
        yield f"    features = changed_images(CHANGES, features, drawn, {greatest})"
    else:
        yield "    features = tf.cast(features, tf.float32)"
    if not are_blended:
        yield "    return features, labels"
        return
    if data.target_kind in (Target.CLASSES, None):
        yield "    labels = tf.one_hot(labels, class_count)"
    yield _BLENDED
