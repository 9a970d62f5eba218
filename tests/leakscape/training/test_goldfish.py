import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import InputError
from leakscape.training.goldfish import HASHES, TABLE_SEED, TABLE_SIZE, drop_mask

IDS = st.lists(st.integers(0, 50_000), max_size=40)


def reference(targets: list[int], *, k: int, width: int) -> list[bool]:
    """`lit_gpt/utils.py` of the authors, as algorithms tell it: a tensor product over unfolded windows."""
    table = torch.rand(TABLE_SIZE, generator=torch.Generator().manual_seed(TABLE_SEED))
    row = torch.tensor(targets)
    drop = torch.zeros(len(targets), dtype=torch.bool)
    drop[width - 1 :] = table[row.unfold(0, width, 1).prod(dim=-1) % TABLE_SIZE] < 1 / k
    return drop.tolist()


def test_static_drops_every_kth():
    assert drop_mask([9] * 7, k=3, width=13, method="static") == [False, False, True, False, False, True, False]


def test_paper_hash_equals_the_reference_without_zeros():
    targets = [17, 5, 923, 44, 44, 5, 17, 600, 31, 2, 8, 77, 1023, 12, 9]
    for k in (2, 3, 4):
        for width in (1, 3, 4):
            assert drop_mask(targets, k=k, width=width, method="paper") == reference(targets, k=k, width=width)


def test_the_table_is_the_references():
    # T[0] is 0.234, so the reference always drops a window with an id 0 at k of at most 4.
    table = torch.rand(TABLE_SIZE, generator=torch.Generator().manual_seed(TABLE_SEED))
    assert round(float(table[0]), 3) == 0.234
    assert drop_mask([6], k=2, width=1, method="paper") == [float(table[6]) < 0.5]


@pytest.mark.parametrize("method", ["ordered", "paper"])
def test_an_id_zero_is_not_always_dropped(method: str):
    targets = [0 if index % 4 == 0 else index for index in range(1, 401)]
    share = sum(drop_mask(targets, k=4, width=4, method=method)) / len(targets)
    assert 0.15 < share < 0.35
    single = [drop_mask([0, index], k=4, width=2, method=method)[1] for index in range(1, 201)]
    assert 0.1 < sum(single) / 200 < 0.4


def test_large_ids_do_not_overflow():
    ids = [200_000 + index for index in range(4)]
    table = torch.rand(TABLE_SIZE, generator=torch.Generator().manual_seed(TABLE_SEED))
    expected = float(table[math.prod(ids) % TABLE_SIZE]) < 1 / 4  # the product has 71 bits
    assert drop_mask(ids, k=4, width=4, method="paper")[3] is expected


def test_the_ordered_hash_knows_the_order_and_the_paper_hash_does_not():
    forward = [drop_mask([a, a + 1, a + 2], k=2, width=3, method="ordered")[2] for a in range(1, 200)]
    backward = [drop_mask([a + 2, a + 1, a], k=2, width=3, method="ordered")[2] for a in range(1, 200)]
    assert forward != backward
    forward = [drop_mask([a, a + 1, a + 2], k=2, width=3, method="paper")[2] for a in range(1, 200)]
    backward = [drop_mask([a + 2, a + 1, a], k=2, width=3, method="paper")[2] for a in range(1, 200)]
    assert forward == backward


def test_the_ordered_hash_is_pinned():
    # BLAKE2b of the four ids as little-endian 32-bit words, as any implementation of it gives them.
    mask = drop_mask(list(range(40)), k=4, width=4, method="ordered")
    assert [at for at, drop in enumerate(mask) if drop] == [14, 18, 20, 26, 36]


@given(IDS, st.sampled_from(HASHES), st.integers(2, 6), st.integers(1, 15))
def test_one_flag_a_target_and_none_before_a_whole_window(ids: list[int], method: str, k: int, width: int):
    mask = drop_mask(ids, k=k, width=width, method=method)
    assert len(mask) == len(ids)
    if method != "static":
        assert not any(mask[: width - 1])


@given(IDS, IDS, IDS, st.sampled_from(["ordered", "paper"]), st.integers(1, 13))
def test_identical_text_gets_the_identical_mask_wherever_it_stands(
    text: list[int], before: list[int], other: list[int], method: str, width: int
):
    first = drop_mask(before + text, k=3, width=width, method=method)[len(before) :]
    second = drop_mask(other + text, k=3, width=width, method=method)[len(other) :]
    assert first[width - 1 :] == second[width - 1 :]


@pytest.mark.parametrize(("k", "width", "method"), [(1, 13, "ordered"), (4, 0, "ordered"), (4, 13, "seeded_random")])
def test_settings_without_a_meaning_are_refused(k: int, width: int, method: str):
    with pytest.raises(InputError, match="Goldfish takes"):
        drop_mask([1, 2, 3], k=k, width=width, method=method)
