"""Properties of anything at all, looked at with some examples always and with many at length.

Examples are other ones each time, so that every run of the tests finds more; only ``.ci/run`` (and
any run where ``CI`` is set) takes the same ones until the property itself is changed, so that no
change fails for what it did not do. By hand: ``pytest --hypothesis-profile=ci``.
A failure prints ``@reproduce_failure(...)``: put below ``@often``, it is looked at again.
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

Property = Callable[..., None]
Test = Callable[[int], None]


def often(few: int, many: int, *anything: Any, **named: Any) -> Callable[[Property], Test]:
    """As ``given`` of hypothesis, with so few examples always and so many by ``make test-slow``."""

    def of(check: Property) -> Test:
        def test(examples: int) -> None:
            how = settings(
                max_examples=examples,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow],  # the machine may be busy
            )
            how(given(*anything, **named)(check))()

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        always = [few, pytest.param(many, marks=pytest.mark.slow)]
        return pytest.mark.parametrize("examples", always)(test)

    return of
