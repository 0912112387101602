"""Images as architectures of ``keras.applications`` take them."""

import keras


def rgb_pixels(images: keras.KerasTensor, greatest: float) -> keras.KerasTensor:
    """From raw features to pixels from 0 to 255 in three colours.

    Args:
        images: Shape [n, height, width] or [n, height, width, channels].
        greatest: What is white.
    """
    pixels = images
    if greatest != 255:
        pixels = keras.layers.Rescaling(255.0 / greatest, name="pixels", dtype="float32")(pixels)
    if len(pixels.shape) == 3:
        channel = keras.layers.Reshape((*pixels.shape[1:], 1), name="channel", dtype="float32")
        pixels = channel(pixels)
    if pixels.shape[-1] == 1:
        pixels = keras.layers.Concatenate(name="colours", dtype="float32")([pixels] * 3)
    return pixels
