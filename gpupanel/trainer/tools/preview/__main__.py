"""``python -m gpupanel.trainer.tools.preview``: a look at what a profile names.

A :class:`~gpupanel.domain.preview.PreviewRequest` as JSON on standard input is answered by a
:class:`~gpupanel.domain.preview.DataPreview` on standard output.
"""

import gc
import sys

# What imports leave stays: searching it for garbage would be a tenth of the work.
gc.disable()
try:
    from gpupanel.domain.preview import PreviewRequest
    from gpupanel.trainer.tools.preview.preview import preview
finally:
    gc.freeze()
    gc.enable()


def main() -> int:
    """Answer the request on standard input."""
    request = PreviewRequest.model_validate_json(sys.stdin.buffer.read())
    sys.stdout.write(preview(request).model_dump_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
