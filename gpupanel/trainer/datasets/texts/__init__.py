"""Texts as numbers of words: how they are divided, counted, kept and read."""
