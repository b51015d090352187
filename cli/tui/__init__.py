"""`mind chat`: minds and agents on one screen; it talks to a store only through a client."""
