"""Events become answers: every one of them can be deleted and rebuilt."""
