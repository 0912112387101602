"""Runs the trainer's self-test with something of TensorFlow broken on purpose.

``python broken_devices.py HOW CLASS``: the all-reduce of that class of TensorFlow has a replica,
the second one, that adds noise (``noise``) or a value that is no number (``nan``), never answers
(``hang``) or kills the process (``die``). ``step`` has the second device calculate gradients 1 %
too large, ``memory`` a bit of its memory turned over, ``copy`` one of what is copied to it. With
``slow`` nothing is wrong: memory takes its time.
"""

import os
import signal
import sys
import time

from gpupanel.trainer.quick_import import quick_import
from gpupanel.trainer.tools.self_test import __main__ as self_test


def break_sums(how: str, name: str) -> None:
    import tensorflow as tf

    ops = getattr(tf.distribute, name)
    reduce = ops.batch_reduce_implementation

    def broken(self, reduce_op, pairs, options):
        if how == "hang":
            # In the graph, as a collective hangs whose peer never comes.
            def wait(value):
                time.sleep(10_000)
                return value

            pairs = [(_changed(each, lambda one: _python(wait, one)), to) for each, to in pairs]
        elif how == "die":
            pairs = [(_changed(each, lambda one: _python(_die, one)), to) for each, to in pairs]
        else:
            more = {"noise": 2.0**-30, "nan": float("nan")}[how]
            pairs = [(_changed(each, lambda one: one + more), to) for each, to in pairs]
        return reduce(self, reduce_op, pairs, options)

    ops.batch_reduce_implementation = broken


def _python(function, value):
    import tensorflow as tf

    changed = tf.numpy_function(function, [value], value.dtype)
    changed.set_shape(value.shape)
    return changed


def _die(value):
    os.kill(os.getpid(), signal.SIGSEGV)
    return value


def _changed(per_replica, change):
    from tensorflow.python.distribute import values

    first, second, *others = per_replica.values
    with __import__("tensorflow").device(second.device):
        return values.PerReplica((first, change(second), *others))


def break_step() -> None:
    from gpupanel.trainer.steps.contribution import ContributionOf

    call = ContributionOf.__call__

    def wrong(self, *given):
        import tensorflow as tf

        made = call(self, *given)
        if tf.zeros(()).device.endswith("CPU:1"):
            made = made._replace(gradients=[each * 1.01 for each in made.gradients])
        return made

    ContributionOf.__call__ = wrong


def break_memory() -> None:
    from gpupanel.trainer.tools.self_test import memory

    pattern, written = memory._pattern, []

    def turned(base, chunk, flip):
        import tensorflow as tf

        made = pattern(base, chunk, flip)
        written.append(chunk)
        if written.count(1) == 2 and chunk == 1:
            made = tf.concat([made[:5] + 1, made[5:]], axis=0)
        return made

    memory._pattern = turned


def slow_memory() -> None:
    from gpupanel.trainer.tools.self_test import memory

    pattern = memory._pattern

    def late(base, chunk, flip):
        time.sleep(0.05)
        return pattern(base, chunk, flip)

    memory._pattern = late


def break_copy() -> None:
    import tensorflow as tf

    identity = tf.identity

    def wrong(tensor, *given, **named):
        made = identity(tensor, *given, **named)
        is_there = tf.executing_eagerly() and made.device.endswith("CPU:1")
        if is_there and made.dtype == tf.int64:
            return tf.concat([made[:-1], made[-1:] + 1], axis=0)
        return made

    tf.identity = wrong


def main() -> int:
    how = sys.argv[1]
    with quick_import():
        import tensorflow  # noqa: F401
    if how == "step":
        break_step()
    elif how == "memory":
        break_memory()
    elif how == "slow":
        slow_memory()
    elif how == "copy":
        break_copy()
    else:
        break_sums(how, sys.argv[2])
    return self_test.main()


if __name__ == "__main__":
    sys.exit(main())
