"""What things are: frozen values that every other package speaks.

Plain Python and pydantic only.
"""
