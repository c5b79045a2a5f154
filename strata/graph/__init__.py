"""The STRATA memory. Each module is one section of the method (see docs/paper-map.md).

model similarity overlap tags   1, 2   nodes and edges; the one similarity; tags
retrieval rendering ageing      3      what is shown, how, and how workflows age by it
reflection calls thresholds     4      what an episode leaves
derived_graph communities meta  5      W, its communities, the meta layer
forgetting                      6      collection that spares bridges
contrast                        7      do-not-confuse edges
state validate                  9, 1   canonical bytes; invariants
settings                        10     every number and switch
experience memory               8      all of it as a library; the adapter to the harness
"""

from strata.graph.experience import Draft, ExperienceGraph
from strata.graph.settings import Settings

__all__ = ["Draft", "ExperienceGraph", "Settings"]
