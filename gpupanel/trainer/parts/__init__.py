"""What training, the exported script and ``predict.py`` do alike, to the bit: one text for all.

Each file imports nothing of gpupanel. The trainer imports it; a script contains its text
(:mod:`gpupanel.domain.script_parts`), several of them one below the other: no name stands in two.
"""
