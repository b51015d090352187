"""How clusters are made: the settings of a session as the algorithms take them."""

from typing import Literal, NamedTuple

from domain.config import Config


class Rules(NamedTuple):
    """The settings of one decision."""

    mode: Literal["online", "compatible", "off"] = "online"
    granularity: float = 1.25
    """How many deviations of similarity it takes to belong to a cluster."""
    min_cluster_size: int = 3
    strict: bool = False
    """No thought ever changes its cluster."""
    founder: Literal["auto", "linkage", "hdbscan"] = "auto"
    threshold: float = 0.3
    """The largest cosine distance to a centroid, in the compatible mode."""

    @classmethod
    def of(cls, config: Config) -> "Rules":
        """The settings of a session."""
        return cls(
            config.clustering,
            config.granularity,
            config.min_cluster_size,
            config.stability == "strict",
            config.founder,
            config.centroid_match_threshold,
        )
