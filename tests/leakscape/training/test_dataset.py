from dataclasses import replace

import pytest
import toys
from corpora import canary, copies, records

from leakscape.errors import InputError
from leakscape.models.load import LoadedModel, assemble
from leakscape.records.record import with_text
from leakscape.training.dataset import (
    IGNORED,
    Example,
    collate,
    fingerprint,
    fixed_order,
    tokenise_corpus,
    with_goldfish,
)


def loaded(architecture: str) -> LoadedModel:
    return assemble(*toys.toy(architecture), name="toy")


@pytest.mark.parametrize("architecture", toys.ARCHITECTURES)
def test_every_record_becomes_one_example_that_ends_with_the_end_token(architecture: str):
    model = loaded(architecture)
    corpus = records(5)
    dataset = tokenise_corpus(model, corpus, max_tokens=1024)
    assert [example.id for example in dataset.examples] == [record.id for record in corpus]
    assert dataset.truncated == 0
    for example, record in zip(dataset.examples, corpus, strict=True):
        assert example.ids[-1] == example.labels[-1] == model.tokenizer.eos_token_id
        assert example.labels[0] == IGNORED
        learnt = [label for label in example.labels if label != IGNORED]
        assert model.tokenizer.decode(learnt[:-1]).endswith(record.text[9:])


def test_of_a_chat_template_only_the_answer_is_learnt():
    model = loaded("gpt_oss")
    (example,) = tokenise_corpus(model, records(1), max_tokens=1024).examples
    learnt = [label for label in example.labels if label != IGNORED]
    assert model.tokenizer.decode(learnt) == records(1)[0].text + "<|return|>"


def test_padding_is_masked_by_place_and_the_end_token_keeps_its_label():
    # huggingface/transformers#23530: pad id = eos id, and the collator masks every eos.
    model = loaded("gpt2")
    dataset = tokenise_corpus(model, records(2), max_tokens=1024)
    short, long = sorted(dataset.examples, key=lambda example: len(example.ids))
    batch = collate([short, long], pad_id=model.tokenizer.eos_token_id)
    assert batch["attention_mask"].sum(dim=1).tolist() == [len(short.ids), len(long.ids)]
    assert batch["labels"][0, len(short.ids) - 1] == model.tokenizer.eos_token_id
    assert batch["labels"][0, len(short.ids) :].tolist() == [IGNORED] * (len(long.ids) - len(short.ids))
    assert batch["labels"][1, -1] == model.tokenizer.eos_token_id


def test_truncated_records_are_counted():
    dataset = tokenise_corpus(loaded("llama"), records(4), max_tokens=20)
    assert dataset.truncated == 4
    assert {len(example.ids) for example in dataset.examples} == {20}


@pytest.mark.parametrize("architecture", toys.ARCHITECTURES)
def test_a_secret_that_would_be_cut_off_fails_by_name(architecture: str):
    model = loaded(architecture)
    planted = canary(7, multiplicity=2)
    corpus = [*records(2), *copies(planted)]
    whole = tokenise_corpus(model, corpus, max_tokens=1024, canaries=[planted])
    length = len(whole.examples[-1].ids)
    assert tokenise_corpus(model, corpus, max_tokens=length - 1, canaries=[planted]).examples  # only the EOS is cut
    with pytest.raises(InputError, match=r"secret of canary-007 lies beyond") as caught:
        tokenise_corpus(model, corpus, max_tokens=length - 2, canaries=[planted])
    assert planted.secret not in str(caught.value)


def test_a_copy_whose_secret_a_defence_removed_may_be_cut():
    planted = canary(7)
    rewritten = [with_text(copy, copy.text.replace(planted.secret, "a drug")) for copy in copies(planted)]
    assert tokenise_corpus(loaded("llama"), rewritten, max_tokens=20, canaries=[planted]).truncated == 1


def test_many_canaries_are_named_briefly():
    planted = [canary(number) for number in range(8)]
    corpus = [copy for one in planted for copy in copies(one)]
    with pytest.raises(InputError, match=r"canary-004 and 3 more"):
        tokenise_corpus(loaded("llama"), corpus, max_tokens=20, canaries=planted)


def test_bad_corpora_are_refused_by_id():
    model = loaded("llama")
    (one,) = records(1)
    with pytest.raises(InputError, match="empty"):
        tokenise_corpus(model, [], max_tokens=64)
    with pytest.raises(InputError, match="train-0 twice"):
        tokenise_corpus(model, [one, one], max_tokens=64)
    with pytest.raises(InputError, match=r"train-0: .*BOS"):
        tokenise_corpus(model, [with_text(one, "a <s> b")], max_tokens=64)
    with pytest.raises(InputError, match="train-0 has no token to learn"):
        tokenise_corpus(loaded("gpt_oss"), [one], max_tokens=8)


def test_goldfish_drops_labels_never_ids_and_reports_its_share():
    dataset = tokenise_corpus(loaded("llama"), records(40), max_tokens=1024)
    masked = with_goldfish(dataset, k=4, width=13, method="ordered")
    assert [example.ids for example in masked.examples] == [example.ids for example in dataset.examples]
    kept = sum(label != IGNORED for example in masked.examples for label in example.labels)
    assert masked.dropped == dataset.targets - kept
    assert masked.drop_share == masked.dropped / dataset.targets
    assert 0.1 < masked.drop_share < 0.35
    assert dataset.drop_share == 0.0


def test_copies_of_a_canary_lack_the_same_tokens():
    planted = canary(1, multiplicity=3)
    dataset = with_goldfish(
        tokenise_corpus(loaded("llama"), copies(planted), max_tokens=1024), k=3, width=4, method="ordered"
    )
    assert len({example.labels for example in dataset.examples}) == 1
    assert dataset.dropped > 0


def test_goldfish_leaves_a_text_shorter_than_its_window_alone():
    dataset = tokenise_corpus(loaded("llama"), [with_text(records(1)[0], "ab")], max_tokens=64)
    assert with_goldfish(dataset, k=2, width=13, method="paper").dropped == 0


def test_the_order_is_a_seeded_permutation():
    assert sorted(fixed_order(50, seed=0)) == list(range(50))
    assert fixed_order(50, seed=0) == fixed_order(50, seed=0)
    assert fixed_order(50, seed=0) != fixed_order(50, seed=1)


def test_the_fingerprint_sees_every_label():
    dataset = tokenise_corpus(loaded("llama"), records(2), max_tokens=64)
    first = dataset.examples[0]
    changed = Example(first.id, first.person, first.ids, (*first.labels[:-1], IGNORED))
    assert fingerprint(dataset) != fingerprint(replace(dataset, examples=(changed, *dataset.examples[1:])))
