"""The tab Predict where single examples are given, and answered at once."""
