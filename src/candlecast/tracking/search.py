"""All runs that MLflow's filter lets through: it gives them out a page at a time."""

from collections.abc import Iterator

from mlflow import MlflowClient
from mlflow.entities import Run


def search(client: MlflowClient, experiment: str, query: str) -> Iterator[Run]:
    """Yield the runs of an experiment that `query` lets through, newest first, from every page."""
    token = None
    while True:
        page = client.search_runs([experiment], query, page_token=token)
        yield from page
        token = page.token
        if not token:
            return
