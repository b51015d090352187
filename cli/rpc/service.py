"""What all methods share: an open store, its minds at work, its agents, and who is connected."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from cli.rpc.method import Method, Peer
from cli.rpc.notices import Notifications
from cli.rpc.pieces import PAUSE
from cli.rpc.runs import Runs
from cli.rpc.subscriptions import Subscriptions
from cli.tools.reading import read_tools
from cli.wiring import Desk, agent_model, find_store, seat
from commands.agents.agent_tools import agent_tools
from commands.agents.choose import make_backend
from commands.agents.harness import Harness
from commands.agents.roles import Roles, role_directories
from commands.agents.rules import Rules
from commands.agents.tools import Tool
from commands.eventlog import EventLog
from commands.eventlog.patience import until
from commands.eventlog.place import Place
from commands.world import RealWorld
from domain.agents import Agent
from domain.refs import parse_moment

T = TypeVar("T")

THREADS = 8
"""Calls that look into the store at once; further ones wait."""


class Service:
    """Open for as long as the server, or the app, lives."""

    harness: Harness
    roles: Roles

    def __init__(self, directory: Path, log: EventLog, world: RealWorld) -> None:
        """Take over an open store; :func:`open_service` does so with all that belongs to it."""
        self.directory, self.log, self.world = directory, log, world
        self.runs = Runs(log, world, tell=self.tell_soon, later=self.later)
        self.subscriptions = Subscriptions(log)
        self._peers: list[Peer] = []
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store")
        self._end = threading.Event()

    # who is connected

    def peers(self) -> Iterable[Peer]:
        """All that are connected now."""
        return tuple(self._peers)

    def attach(self, peer: Peer) -> None:
        """Tell this one, too, from now on."""
        if peer not in self._peers:
            self._peers.append(peer)

    def detach(self, peer: Peer) -> None:
        """Tell this one nothing more."""
        self.subscriptions.forget(peer)
        if peer in self._peers:
            self._peers.remove(peer)

    def broadcast(
        self, method: str, params: Mapping[str, Any], *, client: str | None = None
    ) -> None:
        """Send a notification to all, or to all peers that are called as this client is."""
        for peer in self.peers():
            if client is None or peer.name == client:
                peer.notify(method, params)

    def tell_soon(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification to all, from any thread, in the order of these calls."""
        with suppress(RuntimeError):  # the loop is closed: nobody is connected any more
            self._loop.call_soon_threadsafe(self.broadcast, method, params)

    def later(self, work: Callable[[], None]) -> None:
        """Do something after a short pause; asked for from any thread."""
        with suppress(RuntimeError):  # as above
            self._loop.call_soon_threadsafe(self._loop.call_later, PAUSE, work)

    # looking into the store

    def desk(
        self, session: str | None = None, at: str | None = None, *, any_stream: bool = False
    ) -> Desk:
        """The session that is meant, at the moment that is meant: now unless one is named.

        Args:
            session: its name; the current one if None.
            at: a ref.
            any_stream: whether it may be ``agent:NAME`` and its like, of which there is no state.

        Raises:
            NoSuchSession, BadName, BadRef, NoSuchMoment, AmbiguousRef: there is none.
        """
        past = parse_moment(at) if at is not None else None
        found = seat(self.directory, self.log, session, past, any_stream=any_stream)
        return found._replace(world=self.world)

    async def aside(self, work: Callable[..., T], /, *args: Any) -> T:
        """Do something that takes a while, without holding up anybody else."""
        return await self._loop.run_in_executor(self._threads, self._until_the_end, work, *args)

    def _until_the_end(self, work: Callable[..., T], /, *args: Any) -> T:
        with until(self._end):
            return work(*args)

    async def close(self) -> None:
        """Stop all runs and wait for whatever is under way, but not for a store that is away."""
        await self.runs.close()
        await self.subscriptions.close()
        self._end.set()
        await asyncio.to_thread(self._threads.shutdown)


@asynccontextmanager
async def open_service(
    store: Place | None = None,
    env: Mapping[str, str] | None = None,
    *,
    rules: Rules | None = None,
    resume: bool = True,
) -> AsyncIterator[Service]:
    """A store with all that serves it: what was lost when it was last closed is put right.

    Args:
        store: where it is; None finds it as the command line does.
        env: the keys of models, and where roles are looked for; this process's by default.
        rules: how many agents there may be at once.
        resume: whether this process stays to answer what has waited for agents.

    Raises:
        NoStore, NotAStore, StoreIsClosed: there is no store to open.
    """
    place = find_store(store)
    env = os.environ if env is None else env
    async with AsyncExitStack() as closing:
        log = closing.enter_context(EventLog(place))
        service = Service(log.place.home, log, RealWorld.of_this_user())
        closing.push_async_callback(service.close)
        _with_agents(service, env, rules)
        closing.push_async_callback(service.harness.close)
        if log.writable:
            await service.harness.recover(resume=resume)
        yield service


def _with_agents(service: Service, env: Mapping[str, str], rules: Rules | None) -> None:
    """Give it roles and a harness."""
    reading = read_tools(service.log, service.directory, service.world)

    def tools_for(agent: Agent) -> Sequence[Tool]:
        permitted = agent_tools(
            service.harness,
            service.log,
            service.world,
            client=agent.drafted.client,
            permissions=agent.drafted.permissions,
            role=agent.drafted.role,
            caller=str(agent.id),
        )
        return [*reading, *permitted]

    service.roles = Roles(role_directories(service.log.place.directory, env))
    service.harness = Harness(
        service.log,
        service.world,
        backend_for=lambda agent: make_backend(agent.drafted.model, env),
        roles=service.roles,
        can_answer=lambda model: make_backend(model, env),
        tools_for=tools_for,
        tell=Notifications(service).tell,
        rules=(rules or Rules())._replace(model=agent_model(service.directory, service.log, env)),
    )


def all_methods(service: Service) -> dict[str, Method]:
    """Every method by its name."""
    from cli.rpc import agents, dialogue, subscriptions  # noqa: PLC0415 — they import this file

    rooms = (dialogue, subscriptions, agents)
    return {method.name: method for room in rooms for method in room.methods(service)}
