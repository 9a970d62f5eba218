import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import components
from leakscape import artifacts
from leakscape.artifacts import Provenance
from leakscape.local.store import Store, describe, key_of

KEY = "0" * 64

Total = Callable[..., str]


def artifact(path: Path, value: int, *, seconds: float = 0.0, **provenance: object) -> Path:
    with artifacts.create(path, schema="toy/1", provenance=Provenance(**provenance)) as folder:
        folder.write_json("value.json", value)
        folder.seconds["wall"] = seconds
    return path


def keep(tmp_path: Path) -> tuple[Store, dict[str, Path]]:
    store = Store(tmp_path / "store")
    outputs = {"total": artifact(tmp_path / "made" / "total", 7), "report": tmp_path / "made" / "report"}
    outputs["report"].write_text("<p>7</p>", encoding="utf-8")
    store.keep(KEY, outputs, component="toy", seconds=12.5)
    return store, {name: tmp_path / "again" / name for name in outputs}


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    store, again = keep(tmp_path)
    assert store.fetch(KEY, again) == 12.5
    assert artifacts.load(again["total"], schema="toy/1").json("value.json") == 7
    assert again["report"].read_text(encoding="utf-8") == "<p>7</p>"


def test_an_unknown_key_gives_nothing(tmp_path: Path) -> None:
    store, again = keep(tmp_path)
    assert store.fetch("1" * 64, again) is None
    assert Store(tmp_path / "none").fetch(KEY, again) is None


@pytest.mark.parametrize("file", ["outputs/total/value.json", "outputs/total/manifest.json", "outputs/report"])
@pytest.mark.parametrize("damage", ["change", "remove"])
def test_a_damaged_entry_is_dropped(tmp_path: Path, file: str, damage: str) -> None:
    store, again = keep(tmp_path)
    path = store.path / KEY / file
    path.unlink()
    if damage == "change":
        path.write_text("8", encoding="utf-8")
    assert store.fetch(KEY, again) is None
    assert not (store.path / KEY).exists()
    assert not any(path.exists() for path in again.values())


def test_a_second_entry_for_a_key_is_dropped(tmp_path: Path) -> None:
    store, again = keep(tmp_path)
    store.keep(KEY, {"total": artifact(tmp_path / "other", 8)}, component="toy", seconds=1.0)
    assert store.fetch(KEY, again) == 12.5
    assert [path.name for path in store.path.iterdir()] == [KEY]


def test_only_old_half_filled_entries_are_swept(tmp_path: Path) -> None:
    store, _ = keep(tmp_path)
    old, new = store.path / ".partial-old", store.path / ".partial-new"
    old.mkdir()
    new.mkdir()
    yesterday = time.time() - 100_000
    os.utime(old, (yesterday, yesterday))
    store.sweep()
    assert sorted(path.name for path in store.path.iterdir()) == [".partial-new", KEY]


def test_a_description_covers_details_but_no_timings(tmp_path: Path) -> None:
    one = artifact(tmp_path / "one", 7, seconds=1.0, details={"adapter": "x"})
    two = artifact(tmp_path / "two", 7, seconds=2.0, details={"adapter": "x"})
    three = artifact(tmp_path / "three", 7, seconds=1.0, details={"adapter": "y"})
    assert describe(one) == describe(two) != describe(three)
    assert artifacts.read_manifest(one).digest == artifacts.read_manifest(three).digest


@pytest.fixture
def total(toy_components: Path, tmp_path: Path) -> Total:
    assert toy_components.is_dir()
    contract = components.contracts()["toy-sum"]

    def make(value: int = 1, more: tuple[int, ...] = (), **changes: object) -> str:
        paths = [tmp_path / f"number-{number}" for number in (value, *more)]
        for path, number in zip(paths, (value, *more), strict=True):
            if not path.exists():
                artifact(path, number)
        return key_of(contract(numbers=paths[0], more=tuple(paths[1:]), total=tmp_path, report=tmp_path, **changes))

    return make


def test_a_key_depends_on_parameters_and_inputs_in_order(total: Total) -> None:
    keys = [
        total(1),
        total(2),
        total(1, (2,)),
        total(2, (1,)),
        total(1, (2, 3)),
        total(1, (3, 2)),
        total(1, mode="bug"),
        total(1, note="x"),
    ]
    assert len(set(keys)) == len(keys)
    assert total(1, (2, 3)) == keys[4]


def test_a_key_depends_on_the_accelerators(total: Total, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [total()]
    (tmp_path / "gpus" / "0000:01:00.0").mkdir(parents=True)
    (tmp_path / "gpus" / "0000:01:00.0" / "information").write_text("Model: H200\nIRQ: 1\n", encoding="utf-8")
    monkeypatch.setattr("leakscape.local.store._ACCELERATORS", tmp_path / "gpus")
    keys.append(total())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    keys.append(total())
    assert len(set(keys)) == 3


def test_a_key_depends_on_what_a_parameter_names(total: Total, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.csv").write_text("1", encoding="utf-8")
    before = total(1, note=str(folder))
    assert total(1, note=str(folder)) == before
    (folder / "a.csv").write_text("2", encoding="utf-8")
    changed = total(1, note=str(folder))
    (folder / "a.csv").rename(folder / "b.csv")
    assert len({before, changed, total(1, note=str(folder))}) == 3


def test_a_key_depends_on_what_a_list_names(tmp_path: Path) -> None:
    from components.evaluate.contract import Evaluate

    (tmp_path / "tasks").mkdir()
    task = tmp_path / "tasks" / "a.yaml"
    artifact(tmp_path / "in", 1)

    def key(text: str) -> str:
        task.write_text(text, encoding="utf-8")
        made = tmp_path / "in"
        inputs = {"canaries": made, "held_out": made, "original": made, "adapters": ()}
        outputs = {"measurements": tmp_path / "out", "roc": tmp_path / "roc"}
        tasks = ["arc_easy", str(tmp_path / "tasks")]
        return key_of(Evaluate(**inputs, **outputs, target="t", condition="c", model="m", harness_tasks=tasks))

    assert key("task: a") == key("task: a") != key("task: b")


@pytest.mark.parametrize("text", ["", "x" * 10_000, "a\0b", "no/such/file", "é" * 200])
def test_any_text_has_a_key(total: Total, text: str) -> None:
    assert len(total(1, note=text)) == 64


# KFP carries dictionaries in protobuf maps, whose order differs from one process to the next.
def test_a_key_does_not_depend_on_the_order_within_a_dictionary(tmp_path: Path) -> None:
    from components.landscape.contract import Landscape

    def key(plan: dict[str, object]) -> str:
        return key_of(
            Landscape(measurements=(), evidence=(), landscape=tmp_path, report=tmp_path, verdict=tmp_path, plan=plan)
        )

    assert key({"name": "p", "seed": 0, "of": {"a": 1, "b": 2}}) == key(
        {"of": {"b": 2, "a": 1}, "seed": 0, "name": "p"}
    )
    assert key({"name": "p"}) != key({"name": "q"})


def test_what_a_step_keeps_for_itself_does_not_change_its_key(tmp_path: Path) -> None:
    from components.vllm_rewrite.contract import VllmRewrite

    artifact(tmp_path / "in", 1)
    inputs = {"corpus": tmp_path / "in", "exemplars": tmp_path / "in"}
    outputs = {"rewritten": tmp_path / "rewritten", "ledger": tmp_path / "ledger"}

    def key(model: str) -> str:
        return key_of(VllmRewrite(**inputs, **outputs, model=model, ledger_dir=str(tmp_path / "kept")))

    (tmp_path / "model").mkdir()
    before = key(str(tmp_path / "model"))
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "job.jsonl").write_text("an answer", encoding="utf-8")
    assert key(str(tmp_path / "model")) == before
    (tmp_path / "model" / "weights").write_text("changed", encoding="utf-8")
    assert key(str(tmp_path / "model")) != before
