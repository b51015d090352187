"""Pieces that stream in: all of them, in order, in as few sendings as a reader can use."""

from collections.abc import Callable

from cli.rpc.pieces import Pieces


def test_pieces_that_come_together_are_sent_together() -> None:
    """One pause is asked for however many come in it; nothing is sent twice, and no empty text."""
    sent: list[str] = []
    pauses: list[Callable[[], None]] = []
    pieces = Pieces(sent.append, pauses.append)
    for piece in ("a", "b", "c"):
        pieces.add(piece)
    assert (sent, len(pauses)) == ([], 1)
    pauses.pop()()
    pieces.flush()
    assert sent == ["abc"]
    pieces.add("d")
    pieces.flush()
    pieces.add("e")
    for pause in pauses:
        pause()
    assert sent == ["abc", "d", "e"]
