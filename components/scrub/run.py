"""Scrubs a corpus: masks first, then the corpus under them."""

from components.scrub.contract import Scrub
from leakscape import artifacts, schemas
from leakscape.deidentification.choose import LIBRARIES, choose_detector, choose_fill
from leakscape.deidentification.residual import Residual
from leakscape.deidentification.scrub import Masked, mask, scrubbed
from leakscape.errors import IntegrityError
from leakscape.progress import say, track
from leakscape.provenance import provenance
from leakscape.records.record import CorpusRecord
from leakscape.typed_json import read_rows

_TEXTS_AT_ONCE = 256


def run(contract: Scrub) -> None:
    """Scrub as the contract says.

    Raises:
        ContractError: the model does not fit the detector.
        DependencyError: the detector's library or model is not installed.
        IntegrityError: a record was lost, doubled or moved.
    """
    corpus = artifacts.load(contract.corpus, schema=schemas.CORPUS)
    total = corpus.count("records.jsonl")
    detector = choose_detector(
        contract.detector, model=contract.model, device=contract.device, batch_size=contract.batch_size
    )
    made = provenance(contract, libraries=LIBRARIES[contract.detector])
    residual = Residual()
    wanted = {contract.masks: schemas.MASKS, contract.scrubbed: schemas.CORPUS}
    with artifacts.create_all(wanted, provenance=made) as (folder, target):
        rows = track(corpus.rows("records.jsonl", CorpusRecord), total=total, what="scrubbing records")
        found = mask(rows, detector, residual, batch_size=_TEXTS_AT_ONCE, threshold=contract.threshold)
        count = folder.write_rows("masks.jsonl", found)
        folder.write_json("residual.json", {"detector": contract.detector, **residual.summary()})
        masks = read_rows(folder.path / "masks.jsonl", Masked)
        again = corpus.rows("records.jsonl", CorpusRecord)
        fill_for = choose_fill(contract.replacement, seed=contract.seed)
        written = target.write_rows("records.jsonl", scrubbed(again, masks, fill_for))
        if not written == count == total:
            raise IntegrityError(f"{total} records came in, {count} were masked and {written} were written.")
        folder.details["corpus"] = target.finish().digest
    say(f"{sum(residual.labels.values())} spans masked in {written} records")
