# ruff: noqa: ANN001, ANN201, ANN202, ANN204, D101, D102, D103, D208, E401, E501, E701, E702, F401, I001, S311, SIM905
# fmt: off
"""W1: the shared workload. Deterministic; no clock, no network.

    from w1 import W1
    w = W1(n)                 # pre-generates everything (keep out of the timed region)
    w = W1(n, half=True)      # the same with every float on the float16 grid (still given as float32 bytes)
    w.it(i)                   # Iteration i of the main line  (0 <= i < n)
    w.fork_it(j)              # Iteration K+j of the fork      (0 <= j < 10)
    w.ref_state(k)            # reference state after k iterations of main
    w.ref_fork_state(k, m)    # reference state: k of main then m of fork
    digest(state)             # sha256 of the canonical state
"""
import base64, hashlib, json, os, random
from dataclasses import dataclass
import numpy as np

DIM, POOL, ACCEPT_EVERY, N_FORK = 384, 50, 10, 10
WORDS = ("mind thread echo signal noise lattice drift anchor memory branch river "
         "static texture cohere settle probe orbit hinge ledger prism draft").split()


def _text(rng, nchars):
    out, n = [], 0
    while n < nchars:
        w = rng.choice(WORDS); out.append(w); n += len(w) + 1
    return " ".join(out)[:nchars]


@dataclass(frozen=True)
class Thought:
    id: str
    text: str
    emb: bytes          # 384 x float32 little-endian = 1536 bytes

    @property
    def emb_b64(self): return base64.b64encode(self.emb).decode()
    @property
    def emb_list(self): return np.frombuffer(self.emb, "<f4").astype(float).tolist()


@dataclass(frozen=True)
class Iteration:
    i: int
    user: str | None     # a user message arrives just before this iteration
    thoughts: tuple      # exactly 2
    draft: str           # exactly 1
    accept: bool         # the user accepts the latest draft just after this iteration


def _make(i, salt, half=False):
    rng = random.Random(f"W1/{salt}/{i}")
    g = np.random.default_rng([20260115, 0 if salt == "main" else 1, i])
    th = []
    for j in range(2):
        e = g.standard_normal(DIM).astype("<f4"); e /= np.linalg.norm(e)
        if half: e = e.astype("<f2").astype("<f4")
        th.append(Thought(f"t{salt[0]}{i}.{j}", _text(rng, 120), e.tobytes()))
    return Iteration(i, _text(rng, 120) if i % ACCEPT_EVERY == 0 else None, tuple(th),
                     _text(rng, 400), i % ACCEPT_EVERY == ACCEPT_EVERY - 1)


def empty():
    return {"iter": 0, "awaiting": None, "drafts": [], "history": [], "pool": []}


def apply(s, it):
    """The reference fold (mutates and returns s)."""
    if it.user is not None:
        s["awaiting"] = it.user
    for t in it.thoughts:
        s["pool"].append((t.id, t.text, t.emb))
    del s["pool"][:-POOL]
    s["drafts"].append(it.draft)
    s["iter"] += 1
    if it.accept:
        s["history"].append((s["awaiting"], s["drafts"][-1], len(s["drafts"])))
        s["awaiting"], s["drafts"] = None, []
    return s


def digest(s):
    h = hashlib.sha256()
    h.update(json.dumps([s["iter"], s["awaiting"], list(s["drafts"]),
                         [list(x) for x in s["history"]]]).encode())
    for tid, text, emb in s["pool"]:
        h.update(tid.encode()); h.update(text.encode()); h.update(bytes(emb))
    return h.hexdigest()[:16]


class W1:
    def __init__(self, n, half=False):
        self.n, self.K = n, n // 2 + 5          # K: mid-exchange, 5 live drafts
        self.main = [_make(i, "main", half) for i in range(n)]
        self.fork = [_make(self.K + j, "fork", half) for j in range(N_FORK)]

    def it(self, i): return self.main[i]
    def fork_it(self, j): return self.fork[j]

    def ref_state(self, k):
        s = empty()
        for i in range(k): apply(s, self.main[i])
        return s

    def ref_fork_state(self, k, m):
        s = self.ref_state(k)
        for j in range(m): apply(s, self.fork[j])
        return s

    def payload_bytes(self):
        """Raw information content: utf-8 text + float32 embeddings, no framing."""
        return sum(len(it.user or "") + len(it.draft) + sum(len(t.text) + len(t.emb) for t in it.thoughts)
                   for it in self.main)


if __name__ == "__main__":
    for n in (1000, 5000):
        for half in (False, True):
            w = W1(n, half)
            print(n, "half" if half else "full", digest(w.ref_state(n)), digest(w.ref_state(w.K)), digest(w.ref_fork_state(w.K, N_FORK)), round(w.payload_bytes() / n, 1))
