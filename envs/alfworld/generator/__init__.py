"""Generates ALFWorld games from what the alfworld wheel ships, without any download.

The wheel has the PDDL domain, the grammar, the goal library, which places take which objects, and for each of 120
floor plans its places with their positions and the kinds of objects in it. `floors` reads these; `goals` drafts a
split; `layout` puts objects into a room; `walkthrough` constructs the winning commands; `files` writes the game and
`build` proves each by playing it.
"""

from __future__ import annotations

from envs.alfworld.generator.build import generate_games

__all__ = ["generate_games"]
