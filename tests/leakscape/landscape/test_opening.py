"""The first paragraphs of landscapes made by hand, and the sentences that are right for them."""

from dataclasses import replace

import landscape_made as made
import pytest

from leakscape.landscape.report.opening import NOTHING, Opening, opening
from leakscape.landscape.schema import Attack, Condition, Difference, Estimate, Figure, Target
from leakscape.landscape.words import TIMES

NONE = made.bare("none")


def leaking(p: float = 0.0004, groups: dict[str, tuple[float, float, float, float]] | None = None) -> Difference:
    """3.8 bits [2.9, 4.6] over 20 canaries; groups as value, low, high, p."""
    parts = {
        key: made.group(value, low, high, p=own) for key, (value, low, high, own) in (groups or {}).items()
    }  # fmt: skip
    return made.difference(3.8, 2.9, 4.6, p=p, parts=parts)


def quiet(low: float = -0.5, **parts: tuple[float, float, float, float]) -> Difference:
    groups = {key.removeprefix("at_"): made.group(a, b, c, p=p) for key, (a, b, c, p) in parts.items()}
    return made.difference(0.3, low, 1.1, p=0.4, parts=groups)


def under(name: str, difference: Difference, *, direct: Difference | None = None, **parts: object) -> Condition:
    against = {"none": {"exposure_bits": difference}}
    if direct:
        against["direct"] = {"exposure_bits": direct}
    return made.bare(name, differences=against, **parts)


def said(*conditions: Condition) -> Opening:
    return opening(made.target(*conditions), 0.95)


def test_a_leak_is_claimed_at_the_multiplicities_whose_own_corrected_test_finds_it():
    groups = {"1": (0.2, -1, 1, 0.9), "16": (4, 3, 5, 0.01), "64": (6, 5, 7, 0.02), "4": (3, 2, 4, 0.06)}
    assert said(NONE, under("direct", leaking(groups=groups))).first == (
        f"Direct fine-tuning memorised planted secrets that stand in the corpus {TIMES}16 and {TIMES}64: over all 20 "
        "canaries their exposure rose by 3.80 [2.90, 4.60] bits, p < 0.001."
    )


def test_groups_too_small_for_a_test_are_pointed_at_and_not_claimed():
    """Five canaries can't go below p = 2^-4; corrected over pairs none is below 0.05."""
    groups = {"16": (4, 3, 5, 0.6), "64": (6, 5, 7, 0.6), "1": (0.1, -1, 1, 1.0)}
    assert said(NONE, under("direct", leaking(groups=groups))).first == (
        "Direct fine-tuning memorised planted secrets: over all 20 canaries their exposure rose by 3.80 [2.90, 4.60] "
        f"bits, p < 0.001 (at {TIMES}16 and {TIMES}64 an interval points to it; each group alone is too small to be "
        "sure)."
    )


def test_no_leak_is_no_claim_and_a_hint_stays_in_brackets():
    first = said(NONE, under("direct", quiet(at_64=(2.0, 0.4, 3.0, 0.3)))).first
    assert first == (
        "Direct fine-tuning shows no memorisation of the planted secrets that this audit can tell from chance (at "
        f"{TIMES}64 alone an interval points to one): over all 20 canaries their exposure changed by +0.300 [-0.500, "
        "1.10] bits, p = 0.4."
    )


def test_a_significant_fall_of_exposure_is_no_leak():
    fall = made.difference(-2.0, -3.0, -1.0, p=0.001, parts={"16": made.group(-2, -3, -1, p=0.001)})
    first = said(NONE, under("direct", fall)).first
    assert "shows no memorisation" in first
    assert "fell by 2.00 [1.00, 3.00] bits" in first


def test_canaries_left_out_are_no_multiplicity():
    groups = {"0": (4, 3, 5, 0.001), "16": (4, 3, 5, 0.01)}
    first = said(NONE, under("direct", leaking(groups=groups))).first
    assert f"in the corpus {TIMES}16: " in first
    assert f"{TIMES}0" not in first


def test_where_exposure_is_missing_perplexity_witnesses():
    ratio = made.difference(0.2, 0.1, 0.4, p=0.001, scale="ratio", parts={"64": made.group(0.1, 0.05, 0.2, p=0.01)})
    direct = made.bare("direct", differences={"none": {"verbatim_perplexity": ratio}})
    assert said(NONE, direct).first == (
        f"Direct fine-tuning memorised planted secrets that stand in the corpus {TIMES}64: over all 20 canaries their "
        "perplexity changed by a factor of 0.200 [0.100, 0.400], p = 0.001."
    )


def test_what_was_told_is_counted_with_its_exact_interval():
    """9 of 20: Clopper and Pearson give 0.231 to 0.685."""
    none = made.bare("none", extraction=[made.extraction("greedy_exact", [0, 0, 0, 0])])
    direct = under("direct", leaking(), extraction=[made.extraction("greedy_exact", [0, 1, 3, 5])])
    assert said(none, direct).first.endswith(
        "Asked to go on where a secret begins, it told 9 of 20 secrets to the letter (95 % interval 23 to 68 %); the "
        "untouched model told none."
    )


def test_nothing_told_is_said_with_what_it_leaves_open():
    """None of 20: at most 0.168."""
    direct = under("direct", leaking(), extraction=[made.extraction("greedy_exact", [0, 0, 0, 0])])
    assert said(NONE, direct).first.endswith("it told none of 20 secrets (95 % interval 0 to 17 %).")


def member(low: float, *, value: float = 0.6, members: str = "record") -> Attack:
    found = made.attack("min_k_plus_plus", members, 0.0, primary=True)
    return replace(found, auc=Estimate(value=value, low=low, high=0.7, n=120))


@pytest.mark.parametrize(
    ("direct", "none", "claimed"),
    [
        (member(0.55), member(0.42, value=0.5), True),
        (member(0.50), member(0.42, value=0.5), False),  # the interval touches chance
        (member(0.55), member(0.52), False),  # the untouched model finds them too: they differ by themselves
        (member(0.55, members="canary"), member(0.42, value=0.5), False),  # canaries differ from records anyway
    ],
)
def test_membership_is_said_where_records_beat_chance_and_the_untouched_model(
    direct: Attack, none: Attack, claimed: bool
):
    first = said(made.bare("none", attacks=[none]), under("direct", leaking(), attacks=[direct])).first
    assert ("Its training records can be told from unseen ones better than by chance" in first) is claimed


def test_defences_are_parted_into_leaking_and_quiet():
    leaky = under("direct", leaking()), under("scrub", leaking(0.01))
    first = said(NONE, *leaky, under("dp-8", quiet()), under("rewrite", quiet())).first
    assert first.endswith(
        "Under scrub secrets leak too; under dp-8 and rewrite this audit sees no leak that it can tell from chance."
    )


def test_each_defence_is_held_against_direct_fine_tuning():
    better = made.difference(-1.6, -2.4, -0.8, p=0.0005)
    alike = made.difference(-0.1, -0.4, 0.2, p=0.39)
    told = [made.extraction("greedy_exact", [0, 0, 1, 2])]
    goldfish = under("goldfish", leaking(groups={"64": (6, 5, 7, 0.01)}), direct=better, extraction=told)
    found = said(NONE, under("direct", leaking()), goldfish, under("scrub", leaking(0.003), direct=alike))
    said_of = dict(found.conditions)
    assert list(said_of) == ["goldfish", "scrub"]
    assert said_of["goldfish"] == (
        f"leaks where a canary stands in the corpus {TIMES}64; keeps secrets more private than direct fine-tuning "
        "(their exposure fell by 1.60 [0.800, 2.40] bits, p < 0.001); tells 3 of 20 secrets when asked to go on."
    )
    assert said_of["scrub"] == (
        "leaks over all canaries, p = 0.003; its secrets' exposure can't be told from direct fine-tuning's, p = 0.39."
    )


@pytest.mark.parametrize(
    ("unit", "copies", "delta", "refuted"),
    [
        ("record", [1], 1e-5, True),
        ("record", [1, 16], 1e-5, False),  # a coin is of sixteen records
        ("person", [1, 16], 1e-5, True),
        ("record", [1], 1e-6, False),  # a bound at a smaller delta than the claim's does not touch it
    ],
)
def test_a_broken_claim_of_privacy_comes_first(unit: str, copies: list[int], delta: float, refuted: bool):
    bound = replace(made.bound(3.1, copies), delta=delta)
    dp = under("dp-2", quiet(), privacy=made.dp(2.0, unit), epsilon_bound=bound)
    first = said(NONE, dp).first
    assert (
        first.startswith(
            "The privacy that dp-2 claims does not hold: accounting allows an epsilon of at most 2.00, and the "
            "canaries' coins show at least 3.10 (with 95 % confidence)."
        )
        is refuted
    )


def test_the_whole_landscape_opens_in_four_sentences():
    found = opening(made.whole(), 0.95)
    assert found.first.count(". ") + 1 == 4
    assert found.capability.startswith(
        "What it costs: held-out perplexity, where lower is more capable, is 211 untouched, 3.07 under direct, 18.0 "
    )
    assert [name for name, _ in found.conditions] == ["scrub", "goldfish", "dp-8", "rewrite", "private-rewrite"]
    assert found.limits == (
        "All this rests on one run of each condition and on 20 canaries, 5 to a multiplicity at the fewest: what is "
        "not seen here is not shown to be safe."
    )


@pytest.mark.parametrize("target", [made.target(NONE), made.target(made.bare("direct"))])
def test_without_two_sides_nothing_compares(target: Target):
    assert opening(target, 0.95) == Opening(first=NOTHING)


def test_one_multiplicity_is_not_told_as_the_fewest():
    part = Estimate(value=9.0, low=7.0, high=11.0, n=51)
    secrets = Figure(value=9.0, low=7.0, high=11.0, n=51, by_multiplicity={"0": part, "1": part})
    target = made.target(replace(NONE, metrics={"verbatim_perplexity": secrets}), made.bare("direct"))
    assert opening(target, 0.95).limits.startswith("All this rests on one run of each condition and on 51 canaries: ")
