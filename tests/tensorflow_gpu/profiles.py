"""Parts of profiles for the two unequal cards, as a person would write them."""

from tests.nvml.standin import RTX_3060, RTX_4090

LARGE, SMALL = RTX_4090.uuid, RTX_3060.uuid
BOTH = f'[devices]\nvisible = ["{LARGE}", "{SMALL}"]\n'


def memory(uuid: str, **settings: object) -> str:
    """The policy of a card."""
    lines = (f"{name} = {value!r}".lower() for name, value in settings.items())
    return "\n".join((f'[memory."{uuid}"]', *lines, ""))


def mirrored(shares: object = "equal", all_reduce: str = "auto") -> str:
    """The strategy that both cards can be used by."""
    return f'[strategy]\nkind = "mirrored"\nshares = {shares!r}\nall_reduce = "{all_reduce}"\n'
