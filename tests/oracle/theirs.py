"""What the external planner makes of one kernel: a plan per loop, or its refusal."""
from __future__ import annotations

import ast
import copy
import types
from typing import Any

from plans import Edge, LoopPlan, Permit, Refusal, Site


class _DType:
    def __init__(self, bits: int) -> None:
        self.bits = bits

    def get_bit(self) -> int:
        return self.bits


class _Names:
    """`pl` as far as declarations are evaluated: dtypes with a size."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("DT_"):
            raise AttributeError(name)
        digits = "".join(c if c.isdigit() else " " for c in name.partition("E")[0]).split()
        return _DType(int(digits[0]) if digits else 8)


def kernel_tree(source: str) -> ast.FunctionDef:
    """The function whose decorator asks for a pipeline."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            for d in node.decorator_list:
                if isinstance(d, ast.Call) and any(k.arg == "pipeline" for k in d.keywords):
                    return node
    raise LookupError("no kernel asks for a pipeline")


def _inline_tile_types(kernel: ast.FunctionDef) -> None:
    """`type=t` with `t = pl.TileType(...)` reads as the call itself: older planners look for the literal only."""
    types_by_name = {s.targets[0].id: s.value for s in ast.walk(kernel)
                     if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) and isinstance(s.value, ast.Call)
                     and isinstance(s.value.func, ast.Attribute) and s.value.func.attr == "TileType"}
    for call in ast.walk(kernel):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "make_tile_group":
            for keyword in call.keywords:
                if keyword.arg == "type" and isinstance(keyword.value, ast.Name) and keyword.value.id in types_by_name:
                    keyword.value = copy.deepcopy(types_by_name[keyword.value.id])


def _constant_conditions(kernel: ast.FunctionDef, scope: dict[str, Any]) -> dict[str, tuple[bool, Any]]:
    """What its front end's folding would say: a condition over outer constants only."""
    verdicts: dict[str, tuple[bool, Any]] = {}
    for node in ast.walk(kernel):
        if not isinstance(node, ast.If):
            continue
        try:
            value = bool(eval(compile(ast.Expression(copy.deepcopy(node.test)), "<condition>", "eval"), {"__builtins__": {}}, dict(scope)))
            verdicts[ast.unparse(node.test)] = (True, value)
        except Exception:
            verdicts[ast.unparse(node.test)] = (False, None)
    return verdicts


def _called_stages(loop: ast.For, stages: set[str]) -> list[str]:
    """Stages called by the loop's own statements or by a block directly in it."""
    found = []
    for statement in loop.body:
        for inner in [statement] + (list(statement.body) if isinstance(statement, ast.With) else []):
            if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call) and isinstance(inner.value.func, ast.Name) and inner.value.func.id in stages:
                found.append(inner.value.func.id)
    return found


def _pipeline_loops(statements: list[ast.stmt], stages: set[str], outer: ast.For | None = None) -> list[tuple[ast.For, ast.For]]:
    found = []
    for s in statements:
        if isinstance(s, ast.For):
            if _called_stages(s, stages):
                found.append((s, outer or s))
            found += _pipeline_loops(s.body, stages, outer or s)
        elif isinstance(s, ast.With):
            found += _pipeline_loops(s.body, stages, outer)
    return found


def _only_loop(kernel: ast.FunctionDef, index: int, stages: set[str]) -> ast.FunctionDef:
    """The kernel with one of its pipeline loops and the channels that loop uses; older planners see the first loop only."""
    one = copy.deepcopy(kernel)
    loops = _pipeline_loops(one.body, stages)
    gone = {id(outer) for k, (_, outer) in enumerate(loops) if k != index and outer is not loops[index][1]}
    kept_names = {n.id for n in ast.walk(loops[index][1]) if isinstance(n, ast.Name)}

    class Drop(ast.NodeTransformer):
        def visit_For(self, node: ast.For) -> ast.AST | None:
            return None if id(node) in gone else self.generic_visit(node)

        def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
            call = node.value
            if isinstance(call, ast.Call) and any(k.arg in ("fwd_ids", "bwd_ids") for k in call.keywords) and \
                    not any(isinstance(t, ast.Name) and t.id in kept_names for t in node.targets):
                return None
            return node

    return Drop().visit(one)


class Planner:
    def __init__(self, modules: types.SimpleNamespace) -> None:
        self.m = modules

    def plan(self, source: str, space: dict[str, Any], preload: list[int], constants: dict[str, Any]) -> list[LoopPlan | Refusal]:
        """One entry per pipeline loop in source order; `space`: the executed module; `preload`: one value for all loops or one each."""
        kernel = kernel_tree(source)
        _inline_tile_types(kernel)
        scope = {**{n: v for n, v in space.items() if not n.startswith("__")}, "pl": _Names(), **constants}
        decorated = {n.name for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)
                     and any(ast.unparse(d).endswith("pipeline.stage") for d in n.decorator_list)}
        for name in decorated:
            setattr(scope[name], self.m._stage.PIPELINE_STAGE_ATTR, True)
        conditions = _constant_conditions(kernel, scope)
        try:
            self.m._transformer._prune_const_branches(kernel, scope, conditions)
        except ValueError as e:
            return [Refusal(str(e))]
        count = max(1, len(_pipeline_loops(kernel.body, decorated)))
        out: list[LoopPlan | Refusal] = []
        for i in range(count):
            one = kernel if count == 1 else _only_loop(kernel, i, decorated)
            try:
                out.append(self._loop(one, scope, preload[min(i, len(preload) - 1)]))
            except (ValueError, NotImplementedError) as e:
                out.append(Refusal(str(e)))
        return out

    def _loop(self, kernel: ast.FunctionDef, scope: dict[str, Any], preload: int) -> LoopPlan:
        info = self.m._analyzer.analyze_pipeline(kernel, scope, {})
        if preload > 0:
            self.m._transformer._compute_delays(info, preload)
            self.m._validate.validate_schedule(info)
        names = self.m._transformer._pipeline_var_names(info) if preload > 0 else self.m._transformer._sync_only_var_names()
        self.m._validate.validate_names(kernel, names)
        delays = [s.delay for s in info.stages]
        graph = self.m._sync_graph.build_graph(info, delays)
        core = {s.func_name: s.section_kind for s in info.stages}
        across = [e for e in graph.edges if core[e.src.stage] != core[e.dst.stage]]
        inside = len(graph.edges) - len(across)
        unstable = any(e.unstable for e in graph.edges)
        all_edges, graph.edges = graph.edges, across  # newer planners emit only what crosses the cores
        plan = self.m._sync_graph.plan_sync(graph, info)
        lists = {name: tuple(ast.literal_eval(e) if not isinstance(e, ast.Name) else scope[e.id] for e in node.elts) for name, node in info.sync.lifted_ids}

        def ids(node: ast.expr) -> tuple[int, ...]:
            return lists[node.id] if node.id in lists else tuple(scope[node.id])

        def permits(sites: list[Any]) -> list[Permit]:
            return [Permit(s.section, s.pipe, ids(s.ids_node)[s.id_index % len(ids(s.ids_node))]) for s in sites]

        edges = [Edge(e.kind, e.src.stage, e.src.buffer, e.src.pipe, e.dst.stage, e.dst.buffer, e.dst.pipe, e.dist, e.task_off,
                      core[e.src.stage] == core[e.dst.stage]) for e in all_edges]
        sites = [Site(s.stage, "wait" if s.op.startswith("wait") else "set", s.pipe, ids(s.ids_node), min(s.slot_count, len(ids(s.ids_node)))) for s in plan.sites]
        behind = any(s.slot_count > len(ids(s.ids_node)) for s in plan.sites)  # it goes on indexing a list that was cut to one id by slot
        return LoopPlan(delays, max(delays, default=0) + 1, edges, sites, permits(plan.prefire), permits(plan.drain),
                        inside=inside, unstable=unstable, behind=behind)
