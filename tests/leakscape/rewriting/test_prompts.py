import hashlib

import pytest

from leakscape.errors import InputError
from leakscape.rewriting import prompts


@pytest.mark.parametrize("strategy", prompts.STRATEGIES)
def test_every_strategy_has_its_prompts_and_ends_with_the_cue(strategy: str) -> None:
    for stage in prompts.STRATEGIES[strategy]:
        text = prompts.build(stage, "SOURCE", ["first", "second", "third"])
        assert text.startswith(prompts.instruction(stage.prompt))
        assert text.endswith("\n\nSOURCE\n\nRewrite:")


def test_expansion_shows_exactly_two_exemplars() -> None:
    text = prompts.build(prompts.STRATEGIES["summarise-expand"][1], "SUMMARY", ["first", "second", "third"])
    assert "Example 1:\nfirst\n\nExample 2:\nsecond\n\nSUMMARY" in text
    assert "third" not in text


def test_expansion_without_exemplars_is_refused() -> None:
    with pytest.raises(InputError, match="--exemplar-count"):
        prompts.build(prompts.STRATEGIES["summarise-expand"][1], "SUMMARY", ["only one"])


def test_unknown_prompt_and_strategy_are_refused() -> None:
    with pytest.raises(InputError, match=r"no prompt nothing\.v9"):
        prompts.instruction("nothing.v9")
    with pytest.raises(InputError, match="there are rewrite, privacy-aware"):
        prompts.digest("nothing")


# Versions are frozen: a change of wording needs a new file, or old results could not be told from new ones.
@pytest.mark.parametrize(
    ("name", "sha256"),
    [
        ("expand-privacy-aware.v1", "59ae03623d7b6fa09d2c7a58188b9870e3ebce5536cd5761c29dc831aa1409ed"),
        ("expand.v1", "dc8edf9127cbcd17557f5c2dfa867f770210406ff9b42e8f24bbf0782ac84b6b"),
        ("privacy-aware.v1", "117f5a52226e6261cdd50c4709e19f53f0238a2e176f741f13cec71c3fca13b5"),
        ("rewrite.v1", "f787ddb01c3a1ea9f15e7f0e16a6c241015c2131d420389cf21a1eec9a3e1506"),
        ("summarise-privacy-aware.v1", "3c4ee73758ad9c5dbe89bee6a22a20e84c35f9ef0a0e07347ffc84ab442f698e"),
        ("summarise.v1", "a59fb7b503d74ef85a93dd5524734126b9e789d53cc543956ecc1816662d1ba8"),
    ],
)
def test_published_prompts_never_change(name: str, sha256: str) -> None:
    assert hashlib.sha256(prompts.instruction(name).encode()).hexdigest() == sha256


def test_strategies_differ_in_their_digest() -> None:
    assert len({prompts.digest(strategy) for strategy in prompts.STRATEGIES}) == len(prompts.STRATEGIES)
