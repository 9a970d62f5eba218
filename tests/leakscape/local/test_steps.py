from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from kfp import dsl

from leakscape.local.steps import State, Step, slug, steps_of


def make_pipeline():
    @dsl.container_component
    def toy_step(text: str) -> dsl.ContainerSpec:
        return dsl.ContainerSpec(image="x", command=["leakscape", "toy-step"], args=[text, "--executor-input", "{{$}}"])

    @dsl.pipeline(name="inner")
    def inner() -> None:
        toy_step(text="c").set_display_name("tiny · a")

    @dsl.pipeline(name="toy")
    def pipeline() -> None:
        last = toy_step(text="a").set_display_name("tiny · last")
        first = toy_step(text="b").set_display_name("tiny · a")
        last.after(first)
        inner().after(last)
        dsl.importer(artifact_uri="s3://bucket/x", artifact_class=dsl.Dataset)

    return pipeline


def test_steps_are_listed_in_the_order_of_the_run_with_names_of_their_own(tmp_path: Path) -> None:
    steps = steps_of(make_pipeline().pipeline_spec, out=tmp_path)
    assert [step.title for step in steps] == ["tiny · a", "tiny · last", "tiny · a"]
    assert [step.folder.name for step in steps] == ["tiny-a", "tiny-last", "tiny-a-2"]
    assert {step.component for step in steps} == {"toy-step"}
    assert steps[1].folder == tmp_path / "artifacts" / "tiny-last"
    assert steps[1].log == tmp_path / "logs" / "tiny-last.log"
    assert len({step.task for step in steps}) == 3


def test_slug_reads_well() -> None:
    assert slug("Qwen/Qwen3.5-4B · ε=8 · dp-train") == "Qwen-Qwen3.5-4B-ε-8-dp-train"


@given(st.text())
def test_slug_is_always_a_file_name(title: str) -> None:
    name = slug(title)
    assert 0 < len(name.encode()) <= 100
    assert "/" not in name
    assert name not in {".", ".."}


def test_last_lines_are_those_with_words(tmp_path: Path) -> None:
    step = Step("t", "t", "c", tmp_path, tmp_path / "log")
    assert step.last_lines(3) == []
    step.log.write_text("\n".join(["x" * 100] * 1000 + ["one", "", "two", "  ", "three\n"]), encoding="utf-8")
    assert step.last_lines(2) == ["two", "three"]


def test_only_states_with_artifacts_are_finished() -> None:
    assert [state for state in State if state.finished] == [State.DONE, State.REUSED]
