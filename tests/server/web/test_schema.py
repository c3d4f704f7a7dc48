"""Schemathesis: requests made from the OpenAPI, valid and not, never fail inside and are answered as described."""

import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    schemathesis = pytest.importorskip("schemathesis", reason="install schemathesis")
    checks = pytest.importorskip("schemathesis.specs.openapi.checks", reason="install schemathesis")

EXAMPLES = 12
CHECKS = [checks.content_type_conformance, checks.response_schema_conformance, checks.status_code_conformance]
"""not that every body that fits the schema is accepted: models and moves have to exist"""


@pytest.fixture(scope="module")
def operations(server):
    schema = schemathesis.openapi.from_dict(server.get("/openapi.json"))
    schema.config.update(base_url=server.url)
    return [found.ok() for found in schema.get_all_operations()]


@pytest.mark.filterwarnings("ignore")
def test_no_request_fails_inside(operations):
    assert len(operations) > 12
    for operation in operations:

        @given(case=operation.as_strategy())
        @settings(
            max_examples=EXAMPLES, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        )
        def check(case):
            answer = case.call()
            case.validate_response(answer, checks=CHECKS)
            assert answer.status_code < 500 or answer.json()["code"] == "compiling"

        check()
