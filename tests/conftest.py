"""What every test may ask for."""

from hypothesis import HealthCheck, settings

from tests.postgres.fixtures import (
    every_pg_url,
    every_postgres,
    own_postgres,
    pg_url,
    postgres,
    postgres_of,
)

__all__ = ["every_pg_url", "every_postgres", "own_postgres", "pg_url", "postgres", "postgres_of"]

settings.register_profile(
    "default",
    settings.get_profile("default"),
    # whatever an example is made of, it can be looked at again: the run prints how
    print_blob=True,
    # a machine may be busy, and no test is about how long it takes
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
