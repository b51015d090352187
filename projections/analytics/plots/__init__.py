"""Charts of plain data: in a terminal, as a page, as a picture."""
