from pathlib import Path

import yaml
from plan_fakes import CONTRACTS, PLAN, PUSHED

from pipelines import audit, source
from pipelines.plan import check
from pipelines.pods import LABELS


def test_every_step_wears_the_labels_that_network_policies_select(tmp_path: Path):
    found = audit.graph(check(source.parse(PLAN, name="p.yaml"), contracts=CONTRACTS), CONTRACTS)
    audit.compile_to(found, CONTRACTS, tmp_path / "audit.yaml", PUSHED)
    documents = list(yaml.safe_load_all((tmp_path / "audit.yaml").read_text(encoding="utf-8")))
    executors = documents[1]["platforms"]["kubernetes"]["deploymentSpec"]["executors"]
    assert executors.keys() == documents[0]["deploymentSpec"]["executors"].keys()
    assert {name: pod["podMetadata"]["labels"] for name, pod in executors.items()} == dict.fromkeys(executors, LABELS)
