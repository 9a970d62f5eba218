import dataclasses
import json
import math
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.arguments import parse
from leakscape.contract import VARIABLE, Field, In, Out, Param, check, component, spec
from leakscape.errors import ContractError


@component(name="toy-train", image="train")
class Toy:
    """Train a toy on
    a corpus.

    Not part of the summary.
    """

    corpus: Annotated[Path, In("corpus", "Records.")]
    adapters: Annotated[tuple[Path, ...], In("adapter", "Adapters.", many=True)]
    target: Annotated[str, Param("Model to attack.", required=True)]
    epochs: Annotated[int, Param("Passes.", low=1, high=9)] = 2
    rate: Annotated[float, Param("Learning rate.", above=0)] = 1e-3
    mode: Annotated[str, Param("How.", choices=("fast", "slow"))] = "fast"
    key: Annotated[str, Param("The variable with the key.", pattern=VARIABLE)] = ""
    frozen: Annotated[bool, Param("Whether.")] = False
    sizes: Annotated[list[int], Param("Sizes.", low=1)] = dataclasses.field(default_factory=lambda: [1, 4])
    names: Annotated[list[str], Param("Names.")] = dataclasses.field(default_factory=list)
    anything: Annotated[list[Any], Param("Anything.")] = dataclasses.field(default_factory=list)
    extra: Annotated[dict[str, Any], Param("Extra.")] = dataclasses.field(default_factory=dict)
    adapter: Annotated[Path, Out("adapter", "Weights.")]


def make(**changes: object) -> Toy:
    given_values = {"corpus": Path("c"), "adapters": (), "adapter": Path("a"), "target": "tiny"}
    return Toy(**{**given_values, **changes})


def field_of(name: str) -> Field:
    return next(field for field in spec(Toy).fields if field.name == name)


def test_spec_reads_the_class() -> None:
    found = spec(Toy)
    assert (found.name, found.image, found.summary) == ("toy-train", "train", "Train a toy on a corpus.")
    assert [field.name for field in found.inputs] == ["corpus", "adapters"]
    assert [field.name for field in found.outputs] == ["adapter"]
    assert [field.name for field in found.params] == [
        "target",
        "epochs",
        "rate",
        "mode",
        "key",
        "frozen",
        "sizes",
        "names",
        "anything",
        "extra",
    ]
    assert field_of("sizes").flag == "--sizes"
    assert field_of("sizes").default == [1, 4]
    assert not field_of("target").has_default
    assert spec(make()) is found


def test_spec_refuses_what_is_no_contract() -> None:
    with pytest.raises(TypeError, match="decorate it with @component"):
        spec(int)


def test_instances_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        make().epochs = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"epochs": 0}, "--epochs must be at least 1, not 0."),
        ({"epochs": 10}, "--epochs must be at most 9, not 10."),
        ({"epochs": True}, "--epochs takes a whole number, not bool."),
        ({"epochs": 1.5}, "--epochs takes a whole number, not float."),
        ({"epochs": 10**400}, "--epochs must be at most 9, not a number of more than 300 digits."),
        ({"rate": 0}, "--rate must be above 0, not 0."),
        ({"rate": math.nan}, "--rate must be a number, not NaN."),
        ({"mode": "medium"}, "--mode must be one of fast, slow, not 'medium'."),
        ({"target": ""}, "--target must be given: Model to attack."),
        ({"key": "sk-secret"}, "--key does not fit. It is: The variable with the key."),
        ({"key": "A\n"}, "--key does not fit. It is: The variable with the key."),
        (
            {"target": "https://ada:secret@host/v1"},
            "--target holds a password; hand it over by an environment variable or a secret.",
        ),
        ({"sizes": [4, 0]}, "--sizes must be at least 1, not 0."),
        ({"sizes": "4"}, "--sizes takes a JSON list, not str."),
        ({"sizes": [4, "5"]}, "--sizes takes a list, each item a whole number, not str."),
        ({"sizes": [True]}, "--sizes takes a list, each item a whole number, not bool."),
        ({"sizes": [4.5]}, "--sizes takes a list, each item a whole number, not float."),
        ({"names": [5]}, "--names takes a list, each item text, not int."),
        (
            {"names": ["a", "s3://ada:secret@host/b"]},
            "--names holds a password; hand it over by an environment variable or a secret.",
        ),
        ({"extra": []}, "--extra takes a JSON dictionary, not list."),
        ({"frozen": "false"}, "--frozen takes true or false, not str."),
    ],
)
def test_ranges_speak_in_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ContractError) as raised:
        make(**changes)
    assert str(raised.value) == sentence


@pytest.mark.parametrize("target", ["", "https://host:8000/v1", "s3://bucket/a:b@c", "C:/models", "https://ada@host/"])
def test_addresses_without_a_password_pass(target: str) -> None:
    field = dataclasses.replace(field_of("target"), role=Param("Model to attack."))
    check(field, target)
    assert make(key="OPENAI_API_KEY", target="x").key == "OPENAI_API_KEY"


def test_a_list_of_anything_takes_anything() -> None:
    assert make(anything=[1, "a", True, {"b": None}]).anything == [1, "a", True, {"b": None}]


def test_a_whole_number_is_a_number_too() -> None:
    rate = make(rate=1).rate
    assert isinstance(rate, float)
    assert rate == 1.0


@given(st.booleans())
def test_booleans_arrive_in_any_case(value: bool) -> None:
    assert parse(field_of("frozen"), str(value)) is value
    assert parse(field_of("frozen"), json.dumps(value)) is value


@given(st.lists(st.integers(min_value=1)))
def test_lists_arrive_as_json(value: list[int]) -> None:
    assert parse(field_of("sizes"), json.dumps(value)) == value


@given(st.floats(min_value=1e-300, allow_nan=False, allow_infinity=False))
def test_numbers_survive_their_text(value: float) -> None:
    assert parse(field_of("rate"), repr(value)) == value


@given(st.text())
def test_text_is_itself(value: str) -> None:
    assert parse(field_of("target"), value) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("epochs", "two"),
        ("epochs", "9" * 5000),  # beyond the digits that Python reads
        ("rate", "fast"),
        ("frozen", "maybe"),
        ("sizes", "[1"),
        ("sizes", "[" * 100_000),  # beyond Python's stack
        ("extra", "[1]"),
    ],
)
def test_text_of_another_type_is_refused(name: str, text: str) -> None:
    with pytest.raises(ContractError, match=f"--{name} takes"):
        parse(field_of(name), text)


def test_check_leaves_artifacts_alone() -> None:
    check(field_of("corpus"), None)


def test_an_unknown_image_is_refused() -> None:
    with pytest.raises(TypeError, match="image 'gpu' is none of base, train, rewrite, evaluate"):

        @component(name="x", image="gpu")
        class _Contract:
            pass


def test_contracts_that_kfp_cannot_carry_are_refused() -> None:
    with pytest.raises(TypeError, match="no None defaults"):

        @component(name="x", image="base")
        class _NoneDefault:
            value: Annotated[str, Param("A value.")] = None  # type: ignore[assignment]

    with pytest.raises(TypeError, match="can't carry a parameter of type"):

        @component(name="x", image="base")
        class _SetParameter:
            value: Annotated[set[str], Param("A value.")]

    with pytest.raises(TypeError, match="exactly one of In, Out, Param"):

        @component(name="x", image="base")
        class _NoRole:
            value: str

    with pytest.raises(TypeError, match="an artifact is a tuple without a default"):

        @component(name="x", image="base")
        class _ManyAsPath:
            value: Annotated[Path, In("corpus", "Corpora.", many=True)]
