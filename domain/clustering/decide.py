"""From thoughts that arrived to what is decided about them: pure, and the same everywhere."""

from collections.abc import Sequence

from domain.clustering.compatible import two_phases
from domain.clustering.online import online
from domain.clustering.partition import ClusterEvent, Partition
from domain.clustering.rules import Rules
from domain.clustering.vectors import Arrival


def decide(
    partition: Partition, arrivals: Sequence[Arrival], rules: Rules, active: frozenset[int]
) -> list[ClusterEvent]:
    """What becomes of new thoughts, and of the clusters around them.

    Args:
        partition: everything before; it is left as it was.
        arrivals: thoughts that have just got their vectors, by rising version.
        rules: the settings.
        active: the versions of the pool, the new ones included.
    """
    if rules.mode == "off" or not arrivals:
        return []
    with partition.trial():
        new = [version for version, _ in arrivals if not partition.has(version)]
        for version, stored in arrivals:
            partition.add(version, stored)
        if not new:
            return []
        if rules.mode == "compatible":
            return list(two_phases(partition, new, rules, active))
        return list(online(partition, new, rules))
