"""Which canary stands how often in the corpus, and where."""

import random
from collections.abc import Sequence

from leakscape.errors import ContractError

SHUFFLE = "leakscape/spread/1: copies shuffled (Fisher-Yates) onto positions drawn without replacement, MT19937"


def check_multiplicities(multiplicities: Sequence[object], count: int) -> tuple[int, ...]:
    """Hold a list of multiplicities against what the groups need.

    Raises:
        ContractError: the list is empty, holds something else than distinct whole numbers from 1, or there are fewer
            canaries than multiplicities.
    """
    whole = [value for value in multiplicities if isinstance(value, int) and not isinstance(value, bool)]
    if not whole or len(whole) != len(multiplicities) or min(whole) < 1 or len(set(whole)) != len(whole):
        raise ContractError("--multiplicities takes a list of distinct whole numbers from 1, for example [1, 4, 16].")
    if count < len(whole):
        raise ContractError(f"--count must be at least {len(whole)}: each multiplicity needs a canary.")
    return tuple(whole)


def multiplicities_of(count: int, multiplicities: Sequence[int], *, seed: int, rotation: int = 0) -> tuple[int, ...]:
    """Deal canaries to groups by seed, and groups to multiplicities by rotation.

    The groups are as equal as they can be: when `count` is not divisible, the first groups get one canary more. Group
    g gets multiplicity (g + rotation) mod n, so that over n rotations each canary stands at each multiplicity once.

    Returns:
        The multiplicity of canary 0, 1, ...
    """
    order = list(range(count))
    random.Random(f"leakscape/groups/1/{seed}").shuffle(order)
    groups = len(multiplicities)
    small, larger = divmod(count, groups)
    sizes = [small + (group < larger) for group in range(groups)]
    group_of = [group for group, size in enumerate(sizes) for _ in range(size)]
    dealt = [0] * count
    for canary, group in zip(order, group_of, strict=True):
        dealt[canary] = multiplicities[(group + rotation) % groups]
    return tuple(dealt)


def toss(multiplicities: Sequence[int], *, seed: int) -> tuple[int, ...]:
    """Leave each canary out (multiplicity 0) by an independent fair coin (Steinke et al. 2023, one-run audits)."""
    rng = random.Random(f"leakscape/coins/1/{seed}")
    return tuple(multiplicity * rng.getrandbits(1) for multiplicity in multiplicities)


def spread(records: int, multiplicities: Sequence[int], *, seed: int) -> dict[int, tuple[int, int]]:
    """Draw the places of the canaries' copies among the records.

    Every interleaving is equally likely; the records keep their order, so that a corpus is written in one pass and
    only the copies' places are held in memory.

    Args:
        records: how many records the corpus has without canaries.
        multiplicities: of canary 0, 1, ...
        seed: steers the places.

    Returns:
        By the place in the finished corpus (from 0), the canary's number and which of its copies (from 1) stands there.
    """
    copies = [(canary, copy) for canary, times in enumerate(multiplicities) for copy in range(1, times + 1)]
    rng = random.Random(f"leakscape/spread/1/{seed}")
    rng.shuffle(copies)
    places = sorted(rng.sample(range(records + len(copies)), len(copies)))
    return dict(zip(places, copies, strict=True))
