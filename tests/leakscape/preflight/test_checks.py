import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import httpx
import pytest
from huggingface_hub import errors

from leakscape import __version__
from leakscape.errors import InputError, TransientError
from leakscape.preflight import checks

ANSWER = httpx.Response(403, request=httpx.Request("GET", "https://hub.example/org/model"))


def failing(error: Exception) -> Callable[..., NoReturn]:
    """What transformers does: an OSError that came of the hub's own."""

    def ask(*_: object, **__: object) -> NoReturn:
        raise OSError("a text that may hold a token") from error

    return ask


def asked(monkeypatch: pytest.MonkeyPatch, error: Exception, environment: dict[str, str]) -> None:
    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", failing(error))
    checks.model("org/model", environment)


def test_a_licence_that_is_not_accepted_is_told_with_the_token_that_would_need_it(monkeypatch: pytest.MonkeyPatch):
    gated = errors.GatedRepoError("gated", response=ANSWER)
    with pytest.raises(InputError, match=r"licence must be accepted .* HF_TOKEN, which is not set"):
        asked(monkeypatch, gated, {})
    with pytest.raises(InputError, match="by the account of the token in HF_TOKEN before") as raised:
        asked(monkeypatch, gated, {"HF_TOKEN": "hf_secret"})
    assert "hf_secret" not in str(raised.value)


def test_a_model_that_is_not_there_and_a_hub_that_is_away(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(InputError, match="the hub has no such model or revision"):
        asked(monkeypatch, errors.RepositoryNotFoundError("no", response=ANSWER), {})
    with pytest.raises(TransientError, match="hub could not be reached"):
        asked(monkeypatch, errors.LocalEntryNotFoundError("no net"), {})
    with pytest.raises(InputError, match=r"can't read its configuration and tokenizer \(OSError\)"):
        asked(monkeypatch, ValueError("unknown architecture"), {})


def test_the_model_that_ships_and_a_folder_are_read(tmp_path: Path):
    assert "(llama)" in checks.model("leakscape/tiny", {})
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "of-tomorrow"}), encoding="utf-8")
    with pytest.raises(InputError, match=r"transformers \d.* can't read its configuration .* \(ValueError\)"):
        checks.model(str(tmp_path), {})
    assert checks.model(str(tmp_path), {}, files_alone=True) == "its files can be had."


def test_a_revision_is_asked_for(monkeypatch: pytest.MonkeyPatch):
    seen: dict[str, Any] = {}

    def ask(name: str, **given: object) -> NoReturn:
        seen.update(name=name, **given)
        raise OSError

    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", ask)
    with pytest.raises(InputError):
        checks.model("org/model@v2", {})
    assert seen == {"name": "org/model", "revision": "v2"}


def test_a_secret_is_known_by_its_name_alone():
    assert checks.secret("API_KEY", {"API_KEY": "hush"}) == "is set."
    for environment in ({}, {"API_KEY": ""}):
        with pytest.raises(InputError, match="the environment lacks it"):
            checks.secret("API_KEY", environment)


def test_a_place_is_written_read_and_left_as_it_was(tmp_path: Path):
    assert checks.place(str(tmp_path)) == "an object was written, read and removed."
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_place_that_takes_nothing_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises((InputError, OSError)):
        checks.place(str(tmp_path / "file"))
    with pytest.raises(InputError, match="is no place for storage"):
        checks.place("gs://bucket")


def test_a_source_holds_something(tmp_path: Path):
    with pytest.raises(InputError, match="it holds nothing"):
        checks.source(str(tmp_path))
    (tmp_path / "patients.csv").write_text("Id\n", encoding="utf-8")
    assert checks.source(str(tmp_path)) == "1 files are there."


def fake_devices(monkeypatch: pytest.MonkeyPatch, *gib: int) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: len(gib))
    sizes = [type("Properties", (), {"total_memory": size << 30}) for size in gib]
    monkeypatch.setattr("torch.cuda.get_device_properties", lambda at: sizes[at])


def test_accelerators_are_counted_and_measured(monkeypatch: pytest.MonkeyPatch):
    fake_devices(monkeypatch, 80, 80)
    assert checks.accelerators(2, 80) == "2 seen, with 80, 80 GiB."
    with pytest.raises(InputError, match="2 seen, 4 needed"):
        checks.accelerators(4, 0)
    fake_devices(monkeypatch, 80, 40)
    with pytest.raises(InputError, match="one has 40 GiB, 80 GiB are needed"):
        checks.accelerators(1, 80)


def test_the_disk_is_measured(tmp_path: Path):
    assert "GiB are free" in checks.disk(tmp_path, 0)
    with pytest.raises(InputError, match="1e\\+09 GiB are needed"):
        checks.disk(tmp_path, 1e9)


def test_an_image_of_another_version_is_refused():
    assert checks.version(__version__).startswith(f"leakscape {__version__}, torch ")
    assert checks.version("")
    with pytest.raises(InputError, match=rf"holds leakscape {__version__}, the pipeline was compiled by 99\.0"):
        checks.version("99.0")
