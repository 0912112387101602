"""What training, the exported script and ``predict.py`` do alike, to the bit: one text for all.

Each file imports nothing of gpupanel, but another one here, or one of those of the domain that
:data:`~gpupanel.domain.script_parts.PARTS_OF_DOMAIN` names, which do likewise. The trainer imports
it; a script contains its text (:mod:`gpupanel.domain.script_parts`), below that of what it needs:
no name stands in two.
"""
