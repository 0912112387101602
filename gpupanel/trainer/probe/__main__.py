"""``python -m gpupanel.trainer.probe``: what TensorFlow is and finds here, as JSON on stdout.

A process of its own, since importing TensorFlow takes seconds and memory, and may crash.
"""

import os

from gpupanel.trainer.probe.facts import tensorflow_facts


def main() -> None:
    """Write the facts to stdout; everything that TensorFlow prints goes to stderr."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answer:
        os.dup2(2, 1)
        answer.write(tensorflow_facts().model_dump_json())


if __name__ == "__main__":
    main()
