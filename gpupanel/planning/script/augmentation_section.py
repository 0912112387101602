"""How a script changes training examples, as training does."""

from string import Template

from gpupanel.domain.augmentation import NO_AUGMENTATION
from gpupanel.domain.data import DataSettings, Scaling, Target
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined, lines_for

# In the margin: P images are changed, X mixup, K of classes.
_TEXT = '''
  |CHANGES = Changes($changes)
  |
  |
  |def drawn_in(epoch, count):
  |    """What is drawn for each example, by the seed and the epoch."""
  |    return draw_epoch(CHANGES, $size, count, SEED, epoch)
  |
  |
  |def augmented(features, labels, drawn):
X |    """The examples changed; each blended with the one before it in the batch."""
x |    """The examples changed."""
P |    features = changed_images(CHANGES, features, drawn, $greatest)
p |    features = tf.cast(features, tf.float32)
x |    return features, labels
KX|    labels = tf.one_hot(labels, class_count)
X |    own_part = drawn[:, Drawn.OWN_PART]
X |    return [blended(each, tf.roll(each, 1, axis=0), own_part) for each in (features, labels)]
'''


def augmentation_section(data: DataSettings) -> str:
    """Python that defines ``drawn_in`` and ``augmented``; empty where nothing is changed."""
    augmentation = data.chosen_augmentation
    if not augmentation.changes_anything:
        return ""
    conditions = {
        "P": augmentation.changes_images,
        "X": augmentation.mixup > 0,
        "K": data.target_kind in (Target.CLASSES, None),
    }
    text = Template(lines_for(_TEXT, {letter for letter, holds in conditions.items() if holds}))
    usual = NO_AUGMENTATION.model_dump(mode="json")
    chosen = augmentation.model_dump(mode="json")
    changes = ", ".join(
        f"{name}={chosen[name]!r}" for name in chosen if chosen[name] != usual[name]
    )
    greatest = f"{data.greatest}.0"
    if data.scaling is not Scaling.DIVIDE:  # not all pixels are bytes
        greatest += " if x.dtype == np.uint8 else None"
    size = "x.shape[1:3]" if augmentation.changes_images else "(1, 1)"
    return joined(
        part("augmentation"),
        text.substitute(changes=changes, greatest=greatest, size=size),
    )
