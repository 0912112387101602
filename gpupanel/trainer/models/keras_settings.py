"""Settings of Keras before a model is built or loaded: all that a ``keras.json`` may say else."""

import keras


def set_keras(policy: str = "float32") -> None:
    """Set Keras for the models that are built from now on, whatever the person's file says.

    Whoever shows a model before it is trained sets it as whoever trains it, so that both have the
    same layers.

    Args:
        policy: The dtype policy of layers that have none of their own.
    """
    keras.config.set_floatx("float32")
    keras.config.set_image_data_format("channels_last")
    keras.config.set_epsilon(1e-7)  # losses and metrics are bounded by it
    keras.config.set_dtype_policy(policy)
