from pathlib import Path

import pytest
from dvc_deps import PACKAGE, imports, reachable

from candlecast.cli import main
from candlecast.tracking.backend import connect
from candlecast.tracking.store import Store, tracking_store


@pytest.fixture
def store(repository: Path) -> Store:
    return tracking_store({}, repository)


def test_a_run_s_page_is_an_address_and_what_serves_it(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    client, place = connect(store)
    run_id = client.create_run(place, run_name="16x8").info.run_id
    for options, port, option in (([], 5000, ""), (["--port", "5055"], 5055, " --port 5055")):
        main(["open", run_id, *options])
        *_, page, how = capsys.readouterr().out.splitlines()
        wanted = f"http://127.0.0.1:{port}/#/experiments/{place}/runs/{run_id}?workflowType=machine_learning"
        assert page.split() == ["page", wanted]
        assert how.strip() == f"while candlecast ui{option} runs; or: candlecast open {run_id} --ui{option}"


def test_finding_a_run_does_not_wait_for_torch() -> None:
    modules = reachable(PACKAGE / "studies" / "trace.py")
    assert "torch" not in {name for module in modules for name in imports(module)}
