"""A simulated agent in place of a language model: `backbone=simulated`. See docs/simulated-backbone.md."""

from strata.backbone.simulated.backbone import SimulatedBackbone

__all__ = ["SimulatedBackbone"]
