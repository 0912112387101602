"""Which examples of which batch a replica, or one of its micro-batches, has."""

from typing import NamedTuple

import tensorflow as tf


class BatchPart(NamedTuple):
    """Which part of which batch examples are; scalars.

    Attributes:
        examples: How many the whole batch has, of all replicas; float32.
        first: The place in it of the first of the part; int32.
        step: Whose batch it is, counted over the run from 0; int64.
    """

    examples: tf.Tensor
    first: tf.Tensor
    step: tf.Tensor

    def begins_with(self, place: tf.Tensor) -> "BatchPart":
        """What is left of the part from this place in it on."""
        return self._replace(first=self.first + place)
