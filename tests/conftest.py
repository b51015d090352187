"""What every test may ask for."""

from hypothesis import settings

from tests.postgres.fixtures import (
    every_pg_url,
    every_postgres,
    own_postgres,
    pg_url,
    postgres,
    postgres_of,
)

__all__ = ["every_pg_url", "every_postgres", "own_postgres", "pg_url", "postgres", "postgres_of"]

# whatever an example is made of, it can be looked at again: the run prints how
settings.register_profile("default", settings.get_profile("default"), print_blob=True)
