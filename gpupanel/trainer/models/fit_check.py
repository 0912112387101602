"""Whether features and model go together, before TensorFlow is there."""

from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem, ProblemError


def check_features_fit_model(model: ModelSettings, feature_shape: tuple[int, ...]) -> None:
    """Refuse a convolutional network for features that are no pictures of sufficient size.

    Args:
        model: What is trained.
        feature_shape: Of one example: a picture has two axes, or three with its channels.

    Raises:
        ProblemError: They do not go together.
    """
    stack = model.stack
    if stack is None or not stack.filters:
        return
    if len(feature_shape) not in (2, 3):
        raise _problem(
            "model_needs_pictures",
            f"A cnn needs pictures, and one example here has the shape {feature_shape}.",
            "Choose the mlp, or data whose examples are height x width (x channels).",
        )
    height, width = feature_shape[:2]
    halvings = len(stack.filters)
    if min(height, width) < stack.smallest_side:
        raise _problem(
            "model_pictures_too_small",
            f"Pictures of {height}x{width} pixels are too small for {halvings} convolutions: each "
            "halves both sides.",
            f"Use at most {max(1, min(height, width).bit_length() - 1)} entries in model.filters.",
        )


def _problem(code: str, message: str, hint: str) -> ProblemError:
    return ProblemError(Problem(code=code, field="model.source", message=message, hint=hint))
