"""ALFWorld: household tasks in text, on the TextWorld PDDL engine.

`environment` is the adapter; `dataset` finds and checks game files; `engine` plays a game fast and `stock` plays it
with the packages' own classes, which is what the first is proven against; `translation` caches what the planner's
translator makes of a game; `generator` makes games when no official data is at hand.
"""

from __future__ import annotations

from envs.alfworld.environment import AlfworldEnvironment

__all__ = ["AlfworldEnvironment"]
