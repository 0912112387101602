"""What an architecture of ``keras.applications`` begins with."""

from pathlib import Path

import keras

from gpupanel.domain.model import ApplicationModel
from gpupanel.trainer.downloads.download import digest_of
from gpupanel.trainer.downloads.keras_cache import place_of
from gpupanel.trainer.models.weights_file import check_weights_file, weights_problem


def load_weights(base: keras.Model, model: ApplicationModel) -> None:
    """Give the architecture the weights that were chosen, if any were.

    Raises:
        ProblemError: They are not there, damaged, or those of another network.
    """
    if model.weights == "none":
        return
    published = model.application.weights if model.downloads else None
    path = model.weights if published is None else str(place_of(published))
    check_weights_file(path)
    if published is not None and digest_of(Path(path), published.digest) != published.digest:
        raise weights_problem(
            "weights_not_published",
            f"{path} is not the file of weights that Keras publishes for {model.source}.",
            f"Remove it: the next run downloads {published.url} again.",
        )
    try:
        base.load_weights(path)
    except Exception as error:
        # Whatever a file of another network, or of nothing that Keras wrote, makes of the reader.
        raise weights_problem(
            "weights_do_not_fit",
            f"The weights in {path} are not those of {model.source}.",
            "Choose weights of the same architecture, saved without its classifying layers or with "
            "them.",
            f"{type(error).__name__}: {error}",
        ) from error
