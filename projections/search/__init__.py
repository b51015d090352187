"""Finding what was said, asked, answered or learned, in any session: words and meaning together."""
