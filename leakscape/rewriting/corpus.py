"""From a corpus to the texts of a job, and back to a corpus."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from leakscape.errors import IntegrityError
from leakscape.records.record import CorpusRecord, with_text
from leakscape.rewriting.job import Result, Source


def sources(corpus: Iterable[CorpusRecord], *, copies: int) -> Iterator[Source]:
    """One source for each wanted rewrite of each record."""
    for record in corpus:
        for copy in range(1, copies + 1):
            yield Source(id=copy_id(record.id, copy, copies=copies), text=record.text)


def rewritten(corpus: Iterable[CorpusRecord], result: Result, *, copies: int) -> Iterator[CorpusRecord]:
    """The corpus with every text replaced by its rewrite, in the same order; quarantined records are left out.

    Raises:
        IntegrityError: a record has neither a rewrite nor a place in quarantine, or the job answered for a record
            that the corpus does not hold.
    """
    used = 0
    for record in corpus:
        for copy in range(1, copies + 1):
            name = copy_id(record.id, copy, copies=copies)
            if name in result.texts:
                used += 1
                yield replace(with_text(record, result.texts[name]), id=name)
            elif name not in result.quarantined:
                raise IntegrityError(f"record {name} was lost in rewriting: it has no rewrite and is not quarantined.")
    if used != len(result.texts):
        raise IntegrityError(f"{len(result.texts) - used} rewrites belong to no record of the corpus.")


def copy_id(record_id: str, copy: int, *, copies: int) -> str:
    """The id of one rewrite: the record's own where there is one rewrite, else with `/r1`, `/r2`, ..."""
    return record_id if copies == 1 else f"{record_id}/r{copy}"
