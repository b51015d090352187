"""The whole history as files, for engines of any kind."""
