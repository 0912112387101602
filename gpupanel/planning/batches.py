"""How many examples are taken at once."""

from gpupanel.domain.profile import Profile


def planned_batch_size(profile: Profile) -> int:
    """Examples of one optimizer update, or of one call of the tasks that do not train."""
    if profile.task == "train":
        return profile.training.global_batch_size
    return profile.inference.batch_size
