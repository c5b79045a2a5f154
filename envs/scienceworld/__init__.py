"""ScienceWorld: elementary-school science in a simulated house, on the engine of the PyPI package.

`environment` is the adapter; `catalogue` lists tasks, families, splits and variations; `guide` is what the agent is
told; `seen` finds the names of things in what it has been shown; `engine` talks to the simulator, which runs in a Java
virtual machine of its own (`machine`) on the Java that `java` finds.
"""

from __future__ import annotations

from envs.scienceworld.environment import ScienceWorldEnvironment

__all__ = ["ScienceWorldEnvironment"]
