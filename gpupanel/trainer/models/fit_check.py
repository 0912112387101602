"""Whether features and model go together, before TensorFlow is there."""

from gpupanel.domain.data import Target
from gpupanel.domain.model import CnnModel, ModelSettings
from gpupanel.domain.problem import Problem, ProblemError


def check_features_fit_model(model: ModelSettings, feature_shape: tuple[int, ...]) -> None:
    """Refuse a convolutional network for features that are no pictures of sufficient size.

    Args:
        model: What is trained.
        feature_shape: Of one example: a picture has two axes, or three with its channels.

    Raises:
        ProblemError: They do not go together.
    """
    if not isinstance(model, CnnModel):
        return
    if len(feature_shape) not in (2, 3):
        raise _problem(
            "model_needs_pictures",
            f"A cnn needs pictures, and one example here has the shape {feature_shape}.",
            "Choose the mlp, or data whose examples are height x width (x channels).",
        )
    height, width = feature_shape[:2]
    halvings = len(model.filters)
    if min(height, width) < model.smallest_side:
        raise _problem(
            "model_pictures_too_small",
            f"Pictures of {height}x{width} pixels are too small for {halvings} convolutions: each "
            "halves both sides.",
            f"Use at most {max(1, min(height, width).bit_length() - 1)} entries in model.filters.",
        )


def _problem(code: str, message: str, hint: str) -> ProblemError:
    return ProblemError(Problem(code=code, field="model.source", message=message, hint=hint))


def output_count(target: Target, class_count: int) -> int:
    """Outputs of the last layer: one a class, or the one value that is predicted."""
    return class_count if target is Target.CLASSES else 1
