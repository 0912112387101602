"""``python -m gpupanel`` and the ``gpupanel`` command."""

from gpupanel.cli.app import main

if __name__ == "__main__":
    main()
