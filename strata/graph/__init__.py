"""The STRATA memory. Each module is one section of the method (see docs/paper-map.md).

model validate                       1      nodes, typed edges, invariants
similarity overlap tags text         2      the one similarity and what it looks at
retrieval rendering ageing           3      what is shown, how, and how workflows age by it
reflection calls thresholds          4      what an episode leaves
derived_graph communities meta       5      W, its communities, the meta layer
forgetting blocks matched            6      collection that spares bridges
contrast                             7      do-not-confuse edges
experience memory                    8      all of it as a library; the adapter to the harness
state markdown interchange           9      canonical bytes; Markdown; networkx, GraphML, GEXF
settings                            10      every number and switch
exactness                           all     ties and limits hold as on paper
"""

from strata.graph.experience import Draft, ExperienceGraph
from strata.graph.settings import Settings

__all__ = ["Draft", "ExperienceGraph", "Settings"]
