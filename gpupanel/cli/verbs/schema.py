"""The verb that prints the format of a profile."""

from gpupanel.cli.options import JsonOption
from gpupanel.cli.output import print_json
from gpupanel.domain.profile_schema import profile_schema


def schema(*, json: JsonOption = False) -> None:
    """Print the JSON schema of a profile, for editors that complete and check TOML."""
    del json  # it is JSON anyway
    print_json(profile_schema())
