import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import PlanError
from pipelines import source


def data(text: str):
    return source.parse(text, name="p.yaml").data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # The core schema of YAML 1.2 (section 10.3.2), where PyYAML alone follows 1.1.
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("FALSE", False),
        ("1e-2", 0.01),
        ("2e-4", 0.0002),
        ("1.", 1.0),
        (".5", 0.5),
        ("-7", -7),
        ("+7", 7),
        ("010", "010"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("'5'", "5"),
        ("none", "none"),
        ("9007199254740991", 2**53 - 1),
        ("Señora 東京 😀", "Señora 東京 😀"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: object):
    found = data(f"key: {text}")["key"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "p.yaml is empty"),
        ("# only a comment\n", "p.yaml is empty"),
        ("- a\n", "p.yaml, line 1: a plan is a mapping"),
        ("just words", "p.yaml, line 1: a plan is a mapping"),
        ("a: 1\nb: 2\na: 3\n", "p.yaml, line 3: the key `a` stands here twice, first on line 1."),
        ("a:\n  b: 1\n  b: 1\n", "p.yaml, line 3: the key `b` stands here twice, first on line 2."),
        ("a:\n\tb: 1\n", "p.yaml, line 2: holds a tab"),
        ("a: 1\nb:\n", "p.yaml, line 2: b is empty; give it a value"),
        ("a: ~\n", "p.yaml, line 1: a is empty"),
        ("a:\n- 1\n- null\n", "p.yaml, line 3: a.1 is empty"),
        ("a: .nan\n", "p.yaml, line 1: a must be a finite number"),
        ("a: -.inf\n", "p.yaml, line 1: a must be a finite number"),
        ("a: 1e999\n", "p.yaml, line 1: a must be a finite number"),
        ("a: 9007199254740992\n", "p.yaml, line 1: a is beyond 9007199254740991"),
        ("a: " + "9" * 10_000, "p.yaml, line 1: a is beyond 9007199254740991"),
        ("a: &x 1\nb: *x\n", r"p.yaml, line 2: aliases \(`\*x`\) are not read"),
        ("a: &x\n  b: *x\n", "p.yaml, line 2: aliases"),
        ("a: !!python/object/apply:os.getcwd []\n", "p.yaml, line 1: a has the tag"),
        ("a: !!int abc\n", "p.yaml, line 1: a has the tag"),
        ("a: !own {b: 1}\n", "p.yaml, line 1: a has the tag `!own`"),
        ("1: a\n", "p.yaml, line 1: a key must be text, which '1' is not"),
        ("true: a\n", "p.yaml, line 1: a key must be text"),
        ("? [a]\n: b\n", "p.yaml, line 1: a key must be text, which 'a list or mapping' is not"),
        ("a: 1\n---\nb: 2\n", "p.yaml, line 2: a second document begins"),
        ("a: [1, 2\n", "p.yaml, line 2: not YAML"),
        ("a: 1\nb: \x00\n", "p.yaml, line 2: holds a control character"),
        ('a: "\\ud800"\n', "p.yaml, line 1: a holds half a character"),
        ('"\\udc00": 1\n', "p.yaml, line 1: a key holds half a character"),
        ('a: "\\e[31m"\n', "p.yaml, line 1: a holds a control character"),
        ('a: "\\0"\n', "p.yaml, line 1: a holds a control character"),
        ("a: x\u202eabc\n", "p.yaml, line 1: a holds a control character"),
        ("a: " + "[" * 5000, "p.yaml, line 1: nested deeper than 20 levels"),
    ],
)
def test_refuses_with_the_line(text: str, message: str):
    with pytest.raises(PlanError, match="^" + message):
        data(text)


def test_reads_bom_and_crlf(tmp_path: Path):
    file = tmp_path / "plan.yaml"
    file.write_bytes("\ufeffname: x\r\nseed: 3\r\n".encode())
    found = source.read(file)
    assert found.data == {"name": "x", "seed": 3}
    assert found.where(("seed",)) == f"{file}, line 2"


def test_refuses_other_encodings_by_line_missing_and_huge_files(tmp_path: Path):
    file = tmp_path / "plan.yaml"
    file.write_bytes("a: 1\nb: é\n".encode("latin-1"))
    with pytest.raises(PlanError, match=r"plan\.yaml, line 2: not UTF-8"):
        source.read(file)
    with pytest.raises(PlanError, match="can't be read: No such file"):
        source.read(tmp_path / "none.yaml")
    with pytest.raises(PlanError, match="can't be read: Is a directory"):
        source.read(tmp_path)
    file.write_bytes(b"#" * (source.MOST_BYTES + 1))
    with pytest.raises(PlanError, match="larger than"):
        source.read(file)


def test_where_names_the_value_or_what_stands_around_it():
    found = source.parse("a:\n  b:\n    - 1\n    - 2\n", name="p.yaml")
    assert found.where(("a", "b", 1)) == "p.yaml, line 4"
    assert found.where(("a", "missing")) == "p.yaml, line 1"


scalars = st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
documents = st.dictionaries(
    texts,
    st.recursive(
        scalars | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=10,
    ),
    min_size=1,
    max_size=4,
)


@given(documents)
def test_reads_whatever_a_writer_of_json_wrote(document: dict[str, Any]):
    """JSON is YAML; `1e+16` and long numbers must come back as what they were."""
    assert data(json.dumps(document, ensure_ascii=False)) == document


def test_overrides_reach_mappings_indexes_and_names():
    found = source.parse(
        "a: {b: 1}\nconditions:\n  - name: direct\n    train: {component: lora-train}\n  - name: dp\n", name="p.yaml"
    )
    changed = source.with_overrides(
        found,
        ["a.b=1e-3", "new.deep=[1, 2]", "conditions.direct.train.epochs=3", "conditions.1.summary=x=y", "a.c="],
    )
    assert changed.data == {
        "a": {"b": 0.001, "c": ""},
        "conditions": [
            {"name": "direct", "train": {"component": "lora-train", "epochs": 3}},
            {"name": "dp", "summary": "x=y"},
        ],
        "new": {"deep": [1, 2]},
    }
    assert changed.where(("a", "b")) == "--set a.b"
    assert changed.where(("conditions", 0, "train", "epochs")) == "--set conditions.direct.train.epochs"
    assert found.data["a"] == {"b": 1}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("a.b", "--set a.b: write it as key.path=value"),
        ("=3", "--set =3: write it as"),
        ("a.b.c=1", "--set a.b.c leads into a single value"),
        ("conditions.dq.name=x", "--set conditions.dq.name: the list has no item `dq`; it has direct, dp."),
        ("conditions.2.name=x", "--set conditions.2.name: the list has no item `2`"),
        ("a=[1", "--set a: not YAML"),
        ("a=~", "--set a: the value is empty"),
        ("a=.nan", "--set a: the value must be a finite number"),
    ],
)
def test_overrides_that_lead_nowhere_name_themselves(override: str, message: str):
    found = source.parse("a: {b: 1}\nconditions: [{name: direct}, {name: dp}]\n", name="p.yaml")
    with pytest.raises(PlanError) as error:
        source.with_overrides(found, [override])
    assert str(error.value).startswith(message)
