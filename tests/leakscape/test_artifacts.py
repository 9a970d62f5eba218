import errno
import hashlib
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape import artifacts
from leakscape.artifacts import Provenance
from leakscape.errors import ArtifactError
from leakscape.typed_json import dump_json, read_rows

SCHEMA = "toy/1"
# JSON knows no lone surrogates; the artifacts refuse them.
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@dataclass(frozen=True)
class Row:
    id: str
    number: int


def write(path: Path, rows: list[Any], **provenance: object) -> Path:
    with artifacts.create(path, schema=SCHEMA, provenance=Provenance(**provenance)) as folder:
        folder.write_rows("rows.jsonl", rows)
    return path


@given(st.lists(st.builds(Row, id=TEXT, number=st.integers())))
def test_rows_come_back_as_they_went_in(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> None:
    path = write(tmp_path_factory.mktemp("made") / "artifact", rows)
    assert list(artifacts.load(path, schema=SCHEMA).rows("rows.jsonl", Row)) == rows


def test_manifest_names_hash_size_and_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "a", [Row("é", 1)], component="toy", arguments={"seed": 1})
    payload = '{"id":"é","number":1}\n'.encode()
    manifest = artifacts.read_manifest(path)
    entry = manifest.files["rows.jsonl"]
    assert (path / "rows.jsonl").read_bytes() == payload
    assert (entry.sha256, entry.bytes, entry.rows) == (hashlib.sha256(payload).hexdigest(), len(payload), 1)
    assert (manifest.component, manifest.arguments) == ("toy", {"seed": 1})


def test_equal_content_has_an_equal_digest_however_it_was_made(tmp_path: Path) -> None:
    first = artifacts.read_manifest(write(tmp_path / "a", [Row("x", 1)], component="one"))
    second = artifacts.read_manifest(write(tmp_path / "b", [Row("x", 1)], component="two"))
    other = artifacts.read_manifest(write(tmp_path / "c", [Row("x", 2)]))
    assert first.digest == second.digest != other.digest


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[Row]:
        yield Row("x", 1)
        raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        artifacts.create(tmp_path / "a", schema=SCHEMA, provenance=Provenance()) as folder,
    ):
        folder.write_rows("rows.jsonl", broken())
    assert list(tmp_path.iterdir()) == []


def test_an_artifact_is_never_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path / "a", [])
    with pytest.raises(ArtifactError, match="exists already"):
        write(path, [])


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert artifacts.load(write(tmp_path / "a", []), schema=SCHEMA).manifest.files["rows.jsonl"].rows == 0


@pytest.mark.parametrize("value", [math.nan, math.inf, "\ud800"])
def test_what_json_cannot_hold_is_refused_with_its_line(tmp_path: Path, value: object) -> None:
    with pytest.raises(ArtifactError, match=r"rows\.jsonl, line 2: a value can't be written"):
        write(tmp_path / "a", [{"value": 1}, {"value": value}])


def test_json_documents_hold_no_nan(tmp_path: Path) -> None:
    with (
        pytest.raises(ArtifactError, match="never holds NaN"),
        artifacts.create(tmp_path / "a", schema=SCHEMA, provenance=Provenance()) as folder,
    ):
        folder.write_json("summary.json", {"mean": math.nan})


def test_another_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="holds toy/1, but toy/2 is needed"):
        artifacts.load(write(tmp_path / "a", []), schema="toy/2")


def test_changed_and_missing_files_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a", [Row("secret", 1)])
    (path / "rows.jsonl").write_text('{"id":"other","number":1}\n', encoding="utf-8")
    with pytest.raises(ArtifactError, match="has changed since it was written"):
        artifacts.load(path, schema=SCHEMA)
    (path / "rows.jsonl").unlink()
    with pytest.raises(ArtifactError, match="is missing"):
        artifacts.load(path, schema=SCHEMA)


def test_a_file_that_no_manifest_names_is_refused_unless_hidden(tmp_path: Path) -> None:
    path = write(tmp_path / "a", [])
    (path / ".DS_Store").touch()
    assert artifacts.load(path, schema=SCHEMA).count("rows.jsonl") == 0
    (path / "deep").mkdir()
    (path / "deep" / "more.jsonl").touch()
    with pytest.raises(ArtifactError, match=r"deep/more\.jsonl is not named in manifest\.json"):
        artifacts.load(path, schema=SCHEMA)


def test_rows_are_counted_only_where_the_manifest_states_them(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with artifacts.create(path, schema=SCHEMA, provenance=Provenance()) as folder:
        folder.write_rows("rows.jsonl", [Row("x", 1), Row("y", 2)])
        folder.write_json("summary.json", {})
    artifact = artifacts.load(path, schema=SCHEMA)
    assert artifact.count("rows.jsonl") == 2
    with pytest.raises(ArtifactError, match="states no number of rows for summary"):
        artifact.count("summary.json")
    with pytest.raises(ArtifactError, match=r"names no other\.jsonl"):
        artifact.count("other.jsonl")


def test_a_manifest_nested_beyond_the_stack_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(ArtifactError, match="is not JSON"):
        artifacts.read_manifest(tmp_path)


def test_a_folder_without_manifest_is_no_artifact(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="is no artifact"):
        artifacts.load(tmp_path, schema=SCHEMA)


def test_a_payload_outside_the_folder_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a", [])
    manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"]["../../etc/passwd"] = manifest["files"]["rows.jsonl"]
    (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ArtifactError, match="lies outside"):
        artifacts.read_manifest(path)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b'{"id":"secret"', "line 2: not JSON; the file may be cut off."),
        (b'{"id":"secret","number":"7"}', "line 2: number does not fit"),
        (b'{"id":"secret"}', r"line 2: number does not fit \(missing\)"),
        (b'{"id":"secret","number":NaN}', "line 2: not JSON"),
        (b'{"id":"\xff","number":1}', "line 2: not UTF-8."),
        (b"[" * 100_000, "line 2: not JSON"),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_never_quoted(tmp_path: Path, line: bytes, sentence: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"id":"a","number":1}\n' + line)
    with pytest.raises(ArtifactError, match=sentence) as raised:
        list(read_rows(file, Row))
    assert "secret" not in str(raised.value)


def test_bom_crlf_and_blank_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"id":"a","number":1}\r\n{"id":"b","number":2}\r\n\r\n')
    assert list(read_rows(file, Row)) == [Row("a", 1), Row("b", 2)]


def test_a_copy_shares_bytes_and_needs_room_only_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a", [Row("x", 1)])
    artifacts.copy_tree(path, tmp_path / "deep" / "b")
    assert artifacts.load(tmp_path / "deep" / "b", schema=SCHEMA).manifest == artifacts.read_manifest(path)
    assert (tmp_path / "deep" / "b" / "rows.jsonl").samefile(path / "rows.jsonl")


def test_a_copy_falls_back_to_bytes_where_links_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_source: str, _target: str) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    path = write(tmp_path / "a", [Row("x", 1)])
    artifacts.copy_tree(path / "rows.jsonl", tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == (path / "rows.jsonl").read_bytes()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | TEXT, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner)
    )
)
def test_dump_json_is_one_line_that_reads_back(value: object) -> None:
    text = dump_json(value)
    assert "\n" not in text
    assert json.loads(text) == value


def test_several_artifacts_come_together(tmp_path: Path) -> None:
    wanted = {tmp_path / "a" / "one": "one/1", tmp_path / "b" / "two": "two/1"}
    with artifacts.create_all(wanted, provenance=Provenance(component="toy")) as (one, two):
        one.write_rows("rows.jsonl", [{"id": 1}])
        two.details["one"] = one.finish().digest
        two.write_json("value.json", 2)
        assert not any(path.exists() for path in wanted)
    loaded = [artifacts.load(path, schema=schema) for path, schema in wanted.items()]
    assert loaded[1].manifest.details == {"one": loaded[0].manifest.digest}
    assert [artifact.manifest.component for artifact in loaded] == ["toy", "toy"]
    assert loaded[0].count("rows.jsonl") == 1


@pytest.mark.parametrize("fault", ["last file", "last manifest", "last name"])
def test_a_disk_that_fills_up_leaves_none_of_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    full = OSError(errno.ENOSPC, "no space left on device")
    write_text, rename = Path.write_text, Path.rename

    def write(path: Path, *args: object, **kwargs: object) -> int:
        if ".two." in str(path) and path.name == ("value.json" if fault == "last file" else "manifest.json"):
            raise full
        return write_text(path, *args, **kwargs)  # type: ignore[arg-type]

    def name(path: Path, target: Path) -> Path:
        if target.name == "two":
            raise full
        return rename(path, target)

    if fault == "last name":
        monkeypatch.setattr(Path, "rename", name)
    else:
        monkeypatch.setattr(Path, "write_text", write)
    wanted = {tmp_path / "one": "one/1", tmp_path / "two": "two/1"}

    def fill() -> None:
        with artifacts.create_all(wanted, provenance=Provenance()) as (one, two):
            one.write_json("value.json", 1)
            two.write_json("value.json", 2)

    with pytest.raises(OSError, match="no space left"):
        fill()
    assert list(tmp_path.iterdir()) == []


def test_a_file_for_people_goes_through_a_pipe(tmp_path: Path) -> None:
    """Renaming would put a file in the pipe's place; as root even in that of /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        artifacts.write_file(pipe, "told")
        assert os.read(reader, 10) == b"told"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
