"""What is to be said about the shown run, and what can be done with it."""

from gpupanel.ui.run_page.banner.banner import RunBanner

__all__ = ["RunBanner"]
