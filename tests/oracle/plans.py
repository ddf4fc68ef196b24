"""The values that are compared: one loop's plan as either planner states it."""
from __future__ import annotations

import dataclasses
from typing import NamedTuple


class Edge(NamedTuple):
    kind: str
    stage: str
    buffer: str
    pipe: str
    to_stage: str
    to_buffer: str
    to_pipe: str
    distance: int
    task_offset: int
    same_core: bool


class Site(NamedTuple):
    stage: str
    op: str
    pipe: str
    ids: tuple[int, ...]
    modulus: int


class Permit(NamedTuple):
    core: str
    pipe: str
    id: int


@dataclasses.dataclass
class LoopPlan:
    delays: list[int]
    depth: int
    edges: list[Edge]
    sites: list[Site]
    prefire: list[Permit]
    drain: list[Permit]
    added: list[Edge] = dataclasses.field(default_factory=list)  # ours only: edges beyond the peer's graph
    in_place: bool = False  # ours only: some access reads and writes
    inside: int = 0         # theirs only: edges inside one core, left out of sites, prefire and drain
    unstable: bool = False  # theirs only: it saw a distance that changes and says nothing
    behind: bool = False    # theirs only: it indexes a list that was cut to one id by the slot count


@dataclasses.dataclass
class Refusal:
    message: str
    codes: tuple[str, ...] = ()
