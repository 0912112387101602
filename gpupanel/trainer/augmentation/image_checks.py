"""Whether examples can be changed as a profile wants it."""

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.problem import Problem, ProblemError


def check_images(augmentation: Augmentation, shape: tuple[int, ...]) -> None:
    """Refuse to change what cannot be changed so.

    Args:
        augmentation: What may be changed.
        shape: Of one example.

    Raises:
        ProblemError: It is no image, or has no colours, where it must.
    """
    if augmentation.changes_images and len(shape) not in (2, 3):
        raise ProblemError(
            Problem(
                code="augmentation_needs_pictures",
                field="data.augmentation",
                message="Only images can be flipped, moved or coloured, and these examples are "
                "not.",
                hint="Leave out data.augmentation but for mixup, or choose images.",
            )
        )
    if augmentation.hue and (len(shape) != 3 or shape[2] != 3):
        raise ProblemError(
            Problem(
                code="augmentation_needs_colours",
                field="data.augmentation.hue",
                message="The hue of these images cannot be changed: they are not red, green and "
                "blue.",
                hint="Set data.augmentation.hue to 0.",
            )
        )
