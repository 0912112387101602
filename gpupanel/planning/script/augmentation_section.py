"""How a script changes training examples: what a profile needs of ``trainer/augmentation``."""

from string import Template

from gpupanel.domain.augmentation import Augmentation, Fill, Flip
from gpupanel.domain.data import DataSettings, Scaling, Target
from gpupanel.planning.script.sections import lines_for

# In the margin: P images are changed, M moved, H and V flipped, B brightness, C contrast, U hue,
# L one of the two, D all pixels are bytes,
# S a square is cut out, X mixup, K of classes.
_TEXT = '''
P |HEIGHT, WIDTH = x.shape[1:3]
S |SIDE = round($cutout * min(HEIGHT, WIDTH))
P |
P |
  |def drawn_in(epoch, count):
  |    """What is drawn for each example, by the seed and the epoch."""
  |    random = np.random.default_rng([SEED, epoch, 1])
  |    uniform = random.random((count, 11), np.float32)
P |    spread = 2.0 * uniform - 1.0
  |    drawn = np.zeros((count, 12), np.float32)
M |    across = down = np.ones(count, np.float32)
H |    across = np.where(uniform[:, 0] < 0.5, np.float32(-1.0), np.float32(1.0))
V |    down = np.where(uniform[:, 1] < 0.5, np.float32(-1.0), np.float32(1.0))
M |    angle = np.deg2rad($rotate_degrees) * spread[:, 2]
M |    scale = 1.0 / (1.0 + $zoom * spread[:, 3])
M |    cosine, sine = scale * np.cos(angle), scale * np.sin(angle)
M |    drawn[:, 0], drawn[:, 1] = across * cosine, -across * sine
M |    drawn[:, 3], drawn[:, 4] = down * sine, down * cosine
M |    column, row = (WIDTH - 1) / 2.0, (HEIGHT - 1) / 2.0  # the middle stays but for the shift
M |    moved = column * drawn[:, 0] + row * drawn[:, 1]
M |    drawn[:, 2] = column - moved + $shift * WIDTH * spread[:, 4]
M |    moved = column * drawn[:, 3] + row * drawn[:, 4]
M |    drawn[:, 5] = row - moved + $shift * HEIGHT * spread[:, 5]
B |    drawn[:, 6] = 1.0 + $brightness * spread[:, 6]
C |    drawn[:, 7] = 1.0 + $contrast * spread[:, 7]
U |    drawn[:, 8] = $hue * spread[:, 8]
S |    drawn[:, 9] = np.floor(uniform[:, 9] * HEIGHT) - SIDE // 2
S |    drawn[:, 10] = np.floor(uniform[:, 10] * WIDTH) - SIDE // 2
X |    part = random.beta($mixup, $mixup, count)
X |    drawn[:, 11] = np.maximum(part, 1.0 - part)
  |    return drawn
  |
  |
P |def changed(features, drawn):
P |    """The images as it was drawn for each."""
P |    images = tf.cast(features, tf.float32)
P |    images = images[..., tf.newaxis] if len(features.shape) == 3 else images
M |    images = tf.raw_ops.ImageProjectiveTransformV3(
M |        images=images,
M |        transforms=tf.pad(drawn[:, :6], [[0, 0], [0, 2]]),
M |        output_shape=[HEIGHT, WIDTH],
M |        fill_value=0.0,
M |        interpolation="BILINEAR",
M |        fill_mode="$fill",
M |    )
P |    numbers = drawn[:, :, tf.newaxis, tf.newaxis, tf.newaxis]
U |    hue, saturation, value = tf.unstack(tf.image.rgb_to_hsv(images), axis=-1)
U |    hue = tf.math.floormod(hue + numbers[:, 8, ..., 0], 1.0)
U |    images = tf.image.hsv_to_rgb(tf.stack([hue, saturation, value], axis=-1))
B |    images *= numbers[:, 6]
C |    mean = tf.reduce_mean(images, axis=[1, 2], keepdims=True)
C |    images = (images - mean) * numbers[:, 7] + mean
LD|    images = tf.clip_by_value(images, 0.0, $greatest.0)
Ld|    if x.dtype == np.uint8:
Ld|        images = tf.clip_by_value(images, 0.0, $greatest.0)
S |    mean = tf.reduce_mean(images, axis=[1, 2], keepdims=True)
S |    rows = tf.range(HEIGHT, dtype=tf.float32)[:, tf.newaxis, tf.newaxis] - numbers[:, 9]
S |    columns = tf.range(WIDTH, dtype=tf.float32)[:, tf.newaxis] - numbers[:, 10]
S |    is_cut = (rows >= 0) & (rows < SIDE) & (columns >= 0) & (columns < SIDE)
S |    images = tf.where(is_cut, mean, images)
P |    return images[..., 0] if len(features.shape) == 3 else images
P |
P |
  |def augmented(features, labels, drawn):
X |    """The examples changed; each blended with the one before it in the batch."""
x |    """The examples changed."""
P |    features = changed(features, drawn)
p |    features = tf.cast(features, tf.float32)
KX|    labels = tf.one_hot(labels, class_count)
X |    blended = []
X |    for each in (features, tf.cast(labels, tf.float32)):
X |        part = tf.reshape(drawn[:, 11], [-1, *[1] * (len(each.shape) - 1)])
X |        blended.append(part * each + (1.0 - part) * tf.roll(each, 1, axis=0))
X |    return blended
x |    return features, labels
'''


def augmentation_section(data: DataSettings) -> str:
    """Python that defines ``drawn_in`` and ``augmented``; empty where nothing is changed."""
    augmentation = data.chosen_augmentation
    if not augmentation.changes_anything:
        return ""
    text = Template(lines_for(_TEXT, _holds(augmentation, data)))
    numbers = augmentation.model_dump(exclude={"fill", "flip"})
    is_zero = augmentation.fill is Fill.ZERO
    fill = "CONSTANT" if is_zero else augmentation.fill.upper()
    return text.substitute(numbers, fill=fill, greatest=data.greatest)


def _holds(augmentation: Augmentation, data: DataSettings) -> set[str]:
    conditions = {
        "P": augmentation.changes_images,
        "M": augmentation.moves,
        "H": augmentation.flip in (Flip.HORIZONTAL, Flip.BOTH),
        "V": augmentation.flip in (Flip.VERTICAL, Flip.BOTH),
        "B": augmentation.brightness > 0,
        "C": augmentation.contrast > 0,
        "L": augmentation.brightness > 0 or augmentation.contrast > 0,
        "D": data.scaling is Scaling.DIVIDE,
        "U": augmentation.hue > 0,
        "S": augmentation.cutout > 0,
        "X": augmentation.mixup > 0,
        "K": data.target_kind in (Target.CLASSES, None),
    }
    return {letter for letter, holds in conditions.items() if holds}
