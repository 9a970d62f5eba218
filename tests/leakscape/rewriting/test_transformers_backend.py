from pathlib import Path

import pytest
import toys

from leakscape.models.load import LoadedModel, load_model
from leakscape.rewriting.backend import Request
from leakscape.rewriting.transformers_backend import TransformersBackend


@pytest.fixture(scope="module", params=["llama", "gpt_oss"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = toys.save(request.param, tmp_path_factory.mktemp("toy") / "model")
    return load_model(str(Path(folder)))


def requests(count: int) -> list[Request]:
    return [
        Request(id=f"r{number}", prompt="record " * (1 + number), source="", seed=number) for number in range(count)
    ]


def test_a_greedy_answer_is_the_same_alone_and_in_company(loaded: LoadedModel) -> None:
    backend = TransformersBackend(loaded, max_output_tokens=6, batch_size=4)
    together = {answer.id: answer.text for answer in backend.answers(requests(6))}
    alone = {request.id: next(backend.answers([request])).text for request in requests(6)}
    assert together == alone
    assert len(together) == 6


def test_a_sampled_answer_depends_on_its_own_seed_alone(loaded: LoadedModel) -> None:
    backend = TransformersBackend(loaded, max_output_tokens=6, temperature=1.0)
    forth = {answer.id: answer.text for answer in backend.answers(requests(4))}
    back = {answer.id: answer.text for answer in backend.answers(requests(4)[::-1])}
    assert forth == back
    assert len(set(forth.values())) == 4


def test_an_answer_that_the_limit_cut_off_says_so(loaded: LoadedModel) -> None:
    answer = next(TransformersBackend(loaded, max_output_tokens=1, temperature=1.0).answers(requests(1)))
    assert (answer.finish, answer.tokens_out) == ("length", 1)


def test_an_answer_that_ended_by_itself_says_so(loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    end = loaded.tokenizer.eos_token_id

    def generate(input_ids: torch.Tensor, **_: object) -> torch.Tensor:
        said = torch.tensor([[*loaded.tokenizer.encode("ab", add_special_tokens=False), end, end]])
        return torch.cat([input_ids, said], dim=1)

    monkeypatch.setattr(loaded.model, "generate", generate)
    answer = next(TransformersBackend(loaded, max_output_tokens=9).answers(requests(1)))
    assert (answer.finish, answer.text) == ("stop", "ab")
