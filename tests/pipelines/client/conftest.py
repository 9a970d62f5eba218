from collections.abc import Iterator

import kfp_server
import pytest
from plan_fakes import CONTRACTS, PLAN, PUSHED

from pipelines import audit, source
from pipelines.client.connection import Connection, connect
from pipelines.client.pipeline import Compiled, compiled
from pipelines.plan import check


def compile_text(text: str) -> Compiled:
    plan = check(source.parse(text, name="p.yaml"), contracts=CONTRACTS)
    return compiled(audit.graph(plan, CONTRACTS), CONTRACTS, PUSHED)


@pytest.fixture(scope="session")
def made() -> Compiled:
    return compile_text(PLAN)


@pytest.fixture(scope="session")
def other() -> Compiled:
    """The same plan with another seed: one name, other content."""
    return compile_text(PLAN.replace("seed: 7", "seed: 8"))


@pytest.fixture
def server() -> Iterator[kfp_server.Kubeflow]:
    with kfp_server.running() as found:
        yield found


@pytest.fixture
def connection(server: kfp_server.Kubeflow) -> Connection:
    return connect({}, endpoint=server.endpoint)
