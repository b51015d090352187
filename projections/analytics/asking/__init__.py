"""What users ask in SQL: safely, within limits, in any format."""
