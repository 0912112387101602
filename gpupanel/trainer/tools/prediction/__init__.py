"""A model that stays loaded, and answers about single examples as long as somebody asks."""
