"""Figures: the data of each is one object, drawn by matplotlib and written beside the picture as CSV."""
