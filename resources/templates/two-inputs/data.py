"""Examples of two inputs: a picture, and numbers that belong to it.

Let load() read your own: arrays whose first axis is the example, all of one length.
"""

import numpy as np

EXAMPLES = 2_000


def load():
    """Rooms as pictures of 16 x 16 pixels with three facts each; is the room a bright one?"""
    random = np.random.default_rng(0)
    light = random.uniform(40, 215, size=(EXAMPLES, 1, 1, 1))
    noise = random.normal(0, 30, size=(EXAMPLES, 16, 16, 3))
    picture = np.clip(light + noise, 0, 255).astype("uint8")
    facts = random.normal(size=(EXAMPLES, 3)).astype("float32")
    # Neither input alone tells it: a fact says how much light is enough.
    bright = light[:, 0, 0, 0] > 127 + 40 * facts[:, 0]
    return {
        "x": {"picture": picture, "facts": facts},
        "y": bright.astype("int64"),
        "class_names": ["dark", "bright"],
    }
