"""The tree that an external front end builds, as far as accepting a text needs it: nodes, types, a builder. Ours, and without meaning: no
operation is checked here, so "accepted" is what the front end's own Python says of the text: its grammar, scopes, structs and tuples, constants, the
operands, layouts and paths that it checks itself. Which operations its compiled table holds is not known here (spelling.py reads their names).
"""
from __future__ import annotations

import enum
from typing import Any

import xpto.language as pl


class Span:
    def __init__(self, filename: str = "", begin_line: int = -1, begin_column: int = -1, end_line: int = -1, end_column: int = -1) -> None:
        self.filename, self.begin_line, self.begin_column = filename, begin_line, begin_column
        self.end_line, self.end_column = end_line, end_column

    @staticmethod
    def unknown() -> "Span":
        return Span()


class DataType:
    """One object a dtype; equal by identity."""

    def __init__(self, name: str, bits: int) -> None:
        self.name, self._bits = name, bits

    def get_bit(self) -> int:
        return self._bits

    def is_float(self) -> bool:
        return self.name.startswith(("FP", "BF", "HF"))

    def is_int(self) -> bool:
        return not self.is_float() and self.name != "BOOL"

    def is_signed_int(self) -> bool:
        return self.name.startswith("INT") or self.name == "INDEX"

    def is_unsigned_int(self) -> bool:
        return self.name.startswith("UINT")

    def to_string(self) -> str:
        return self.name.lower()

    def __repr__(self) -> str:
        return self.name


def _bits(name: str) -> int:
    digits = "".join(c if c.isdigit() else " " for c in name).split()
    return 1 if name == "BOOL" else 64 if name == "INDEX" else int(digits[0])


for _name in [n[3:] for n in dir(pl) if n.startswith("DT_")] + ["INDEX", "FP4", "UINT4", "INT4"]:
    setattr(DataType, _name, DataType(_name, _bits(_name)))
DataType.DEFAULT_CONST_INT, DataType.DEFAULT_CONST_FLOAT = DataType.INDEX, DataType.FP32  # type: ignore[attr-defined]


# ---------------------------------------------------------------- types


class Type:
    def _key(self) -> Any:
        return tuple(sorted((k, repr(v)) for k, v in vars(self).items()))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"


class UnknownType(Type):
    pass


class ScalarType(Type):
    def __init__(self, dtype: DataType) -> None:
        self.dtype = dtype


class PtrType(Type):
    def __init__(self, dtype: DataType) -> None:
        self.dtype = dtype


class TupleType(Type):
    def __init__(self, kinds: list[Type], fields: Any = None) -> None:
        self.types = list(kinds)


class ShapedType(Type):
    pass


class TensorType(ShapedType):
    def __init__(self, shape: Any, dtype: DataType, memref: Any = None, tensor_view: Any = None) -> None:
        self.shape, self.dtype, self.memref, self.tensor_view = list(shape), dtype, memref, tensor_view


class TileType(ShapedType):
    def __init__(self, shape: Any, dtype: DataType, memref: Any = None, tile_view: Any = None, hardware_info: Any = None) -> None:
        self.shape, self.dtype, self.memref, self.tile_view, self.hardware_info = list(shape), dtype, memref, tile_view, hardware_info


class MemRef(Type):
    def __init__(self, memory_space: Any = None, addr: Any = None, size: Any = None, id: Any = None) -> None:
        self.memory_space_, self.addr_, self.size_, self.id_ = memory_space, addr, size, id


class TensorView(Type):
    def __init__(self, valid_shape: Any = None, stride: Any = None, layout: Any = None) -> None:
        self.valid_shape, self.stride, self.layout, self.ptr = list(valid_shape or []), list(stride or []), layout, None


class TileView(Type):
    def __init__(self, valid_shape: Any = None, stride: Any = None, start_offset: Any = None) -> None:
        self.valid_shape, self.stride, self.start_offset = list(valid_shape or []), list(stride or []), start_offset


class HardwareInfo(Type):
    def __init__(self, *values: Any, **named: Any) -> None:
        self.__dict__.update(named)


Blocks = enum.IntEnum("Blocks", {"row_major": 1, "col_major": 2})
Boxes = enum.IntEnum("Boxes", {"none_box": 0, "row_major": 1, "col_major": 2})


# ---------------------------------------------------------------- expressions


class IRNode:
    span: Span = Span()


class Expr(IRNode):
    def __init__(self, kind: Type, span: Any = None) -> None:
        self.type, self.span = kind, span or Span()


class Var(Expr):
    def __init__(self, name: str, kind: Type, span: Any = None) -> None:
        super().__init__(kind, span)
        self.name = name


class IterArg(Var):
    def __init__(self, name: str, kind: Type, init: Any, span: Any = None) -> None:
        super().__init__(name, kind, span)
        self.init_value = init


class _Const(Expr):
    def __init__(self, value: Any, dtype: DataType, span: Any = None) -> None:
        super().__init__(ScalarType(dtype), span)
        self.value, self.dtype = value, dtype

    def __repr__(self) -> str:
        return str(self.value)


class ConstInt(_Const):
    pass


class ConstFloat(_Const):
    pass


class ConstBool(_Const):
    def __init__(self, value: bool, span: Any = None) -> None:
        super().__init__(value, DataType.BOOL, span)


class Op:
    def __init__(self, name: str) -> None:
        self.name = name


class GlobalVar(Op):
    pass


class Call(Expr):
    def __init__(self, op: Any, args: list[Expr], *rest: Any) -> None:
        kwargs = next((r for r in rest if isinstance(r, dict)), {})
        kind = next((r for r in rest if isinstance(r, Type)), UnknownType())
        super().__init__(kind, next((r for r in rest if isinstance(r, Span)), None))
        self.op, self.args, self.kwargs = op if isinstance(op, Op) else Op(op), list(args), kwargs
        self.name = self.op.name


class MakeTuple(Expr):
    def __init__(self, elements: list[Expr], span: Any = None) -> None:
        super().__init__(TupleType([e.type for e in elements]), span)
        self.elements = list(elements)


class GetItemExpr(Expr):
    def __init__(self, container: Expr, index: Any, span: Any = None) -> None:
        kinds = container.type.types if isinstance(container.type, TupleType) else []
        at = index.value if isinstance(index, ConstInt) else index if isinstance(index, int) else 0
        super().__init__(kinds[at] if -len(kinds) <= at < len(kinds) else UnknownType(), span)
        self.value = self.tuple = self.container = container
        self.index = index


class UnaryExpr(Expr):
    def __init__(self, operand: Expr, *rest: Any) -> None:
        super().__init__(operand.type, next((r for r in rest if isinstance(r, Span)), None))
        self.operand = operand


class Cast(UnaryExpr):
    def __init__(self, operand: Expr, dtype: DataType, span: Any = None) -> None:
        super().__init__(operand, span)
        self.type = ScalarType(dtype)


class BinaryExpr(Expr):
    compares = False

    def __init__(self, left: Expr, right: Expr, *rest: Any) -> None:
        wider = left.type if not isinstance(left, _Const) or isinstance(right, _Const) else right.type
        super().__init__(ScalarType(DataType.BOOL) if self.compares else wider, next((r for r in rest if isinstance(r, Span)), None))
        self.left, self.right = left, right


def _family(base: type, names: str, **members: Any) -> dict[str, type]:
    return {n: type(n, (base,), dict(members)) for n in names.split()}


globals().update(_family(BinaryExpr, "Add Sub Mul FloorDiv FloorMod FloatDiv Min Max Pow BitAnd BitOr BitXor BitShiftLeft BitShiftRight"))
globals().update(_family(BinaryExpr, "Eq Ne Lt Le Gt Ge And Or", compares=True))
globals().update(_family(UnaryExpr, "Neg Not BitNot Abs"))
for _function, _node in {"add": "Add", "sub": "Sub", "mul": "Mul", "truediv": "FloatDiv", "floordiv": "FloorDiv", "mod": "FloorMod", "pow": "Pow", "eq": "Eq",
                         "ne": "Ne", "lt": "Lt", "le": "Le", "gt": "Gt", "ge": "Ge", "and_": "And", "or_": "Or", "bit_and": "BitAnd", "bit_or": "BitOr",
                         "bit_xor": "BitXor", "bit_shift_left": "BitShiftLeft", "bit_shift_right": "BitShiftRight", "min_": "Min", "max_": "Max",
                         "neg": "Neg", "not_": "Not", "bit_not": "BitNot", "cast": "Cast"}.items():
    globals()[_function] = globals()[_node]


def structural_equal(a: Any, b: Any, enable_auto_mapping: bool = False) -> bool:
    """Types by their members, constants by value, everything else by identity."""
    if isinstance(a, Type):
        return a == b
    return a is b or (type(a) is type(b) and isinstance(a, _Const) and a.value == b.value)


def create_op_call(name: str, args: Any, kwargs: Any = None, span: Any = None) -> Call:
    """An operation; the kind of its result is read off what it is for."""
    short, args, kwargs = name.rpartition(".")[2], list(args), dict(kwargs or {})
    kind: Type = UnknownType()
    if short in ("getval", "get_block_idx", "get_block_num", "get_subblock_idx", "get_subblock_num", "tensor_dim", "dim", "tile_valid_shape", "ssbuf_load"):
        shaped = args and isinstance(args[0], Expr) and isinstance(args[0].type, ShapedType)
        kind = ScalarType(args[0].type.dtype if short == "getval" and shaped else DataType.INDEX)
    elif name == "struct.create":
        kind = TupleType([a.type for a in args])
    elif isinstance(kwargs.get("type"), Type):
        kind = kwargs["type"]
    elif short == "make_tile":
        kind = TileType(args[0].elements, kwargs["dtype"], MemRef(kwargs.get("target_memory"), None, kwargs.get("memref_size")), TileView(args[1].elements),
                        HardwareInfo(blayout=Blocks(kwargs.get("blayout", 1)), slayout=Boxes(kwargs.get("slayout", 0)), fractal=kwargs.get("fractal"), pad=kwargs.get("pad")))
    elif args and isinstance(args[0], Expr) and isinstance(args[0].type, (TileType, TensorType)) and short in ("subview", "view", "reshape"):
        kind = args[0].type
    return Call(name, args, kwargs, kind, span or Span())


# ---------------------------------------------------------------- statements and the builder


class Stmt(IRNode):
    def __init__(self, **members: Any) -> None:
        self.__dict__.update(members)


globals().update(_family(Stmt, "SeqStmts IfStmt ForStmt WhileStmt SectionStmt YieldStmt"))


class AssignStmt(Stmt):
    def __init__(self, var: Var, value: Expr, span: Any = None) -> None:
        super().__init__(var=var, value=value, span=span)


class EvalStmt(Stmt):
    def __init__(self, expr: Expr, span: Any = None) -> None:
        super().__init__(expr=expr, span=span)


class ReturnStmt(Stmt):
    def __init__(self, value: Any = None, span: Any = None) -> None:
        super().__init__(value=list(value or []) if not isinstance(value, Span) else [], span=span)


class BreakStmt(Stmt):
    def __init__(self, span: Any = None) -> None:
        super().__init__(span=span)


class ContinueStmt(BreakStmt):
    pass


class Function(IRNode):
    def __init__(self, name: str, params: Any, return_types: Any, body: Any, span: Any = None, func_type: Any = None, entry: bool = False, attrs: Any = None) -> None:
        self.name, self.params, self.return_types, self.body, self.span, self.func_type = name, list(params), list(return_types), body, span, func_type
        self.entry, self.attrs = entry, dict(attrs or {})


class Program(IRNode):
    def __init__(self, functions: Any, name: str = "", span: Any = None, debug_info: Any = None) -> None:
        self.functions, self.name, self.span, self.debug_info = list(functions), name, span, debug_info


class IRDebugInfo:
    """Names of structs and of their fields, by the type object."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[Type, str]] = {}
        self._fields: dict[int, tuple[Type, list[str]]] = {}

    def register_tuple_name(self, kind: Type, name: str) -> None:
        self._names[id(kind)] = kind, name

    def register_tuple_fields(self, kind: Type, fields: list[str]) -> None:
        self._fields[id(kind)] = kind, list(fields)

    def get_tuple_name(self, kind: Type) -> str | None:
        return self._names.get(id(kind), (None, None))[1]

    def get_tuple_fields(self, kind: Type) -> list[str] | None:
        return self._fields.get(id(kind), (None, None))[1]


class IRBuilder:
    """Collects what is emitted; each begin opens a list, its end makes the statement."""

    def __init__(self) -> None:
        self._open: list[Stmt] = []

    def _begin(self, kind: str, **members: Any) -> None:
        self._open.append(Stmt(kind=kind, stmts=[], other=None, params=[], return_types=[], iter_args=[], return_vars=[], **members))

    def _end(self, node: str, **more: Any) -> Any:
        top = self._open.pop()
        members = {**vars(top), **more}
        body = globals()["SeqStmts"](stmts=top.stmts)
        otherwise = None if top.other is None else globals()["SeqStmts"](stmts=top.other)
        made = globals()[node](**{**members, "body": body, "then_body": body, "else_body": otherwise})
        if self._open:
            self.emit(made)
        return made

    def emit(self, stmt: Stmt) -> None:
        top = self._open[-1]
        (top.stmts if top.other is None else top.other).append(stmt)

    def var(self, name: str, kind: Type, span: Any = None) -> Var:
        return Var(name, kind, span)

    def assign(self, var: Var, value: Expr, span: Any = None) -> AssignStmt:
        self.emit(made := AssignStmt(var, value, span))
        return made

    def return_(self, *values: Any) -> ReturnStmt:
        self.emit(made := ReturnStmt(*values))
        return made

    def none(self, *rest: Any) -> Expr:
        return Expr(UnknownType(), Span())

    def begin_function(self, name: str, span: Any, func_type: Any) -> None:
        self._begin("function", name=name, func_type=func_type)

    def func_arg(self, name: str, kind: Type, span: Any = None) -> Var:
        self._open[-1].params.append(made := Var(name, kind, span))
        return made

    def return_type(self, kind: Type) -> None:
        self._open[-1].return_types.append(kind)

    def end_function(self, span: Any) -> Function:
        f = self._open.pop()
        return Function(f.name, f.params, f.return_types, globals()["SeqStmts"](stmts=f.stmts), span, f.func_type)

    def begin_for_loop(self, loop_var: Var, start: Expr, stop: Expr, step: Expr, *rest: Any) -> None:
        self._begin("loop", loop_var=loop_var, start=start, stop=stop, step=step)

    def end_for_loop(self, span: Any) -> Any:
        return self._end("ForStmt", span=span)

    def begin_while_loop(self, condition: Expr, span: Any = None) -> None:
        self._begin("loop", condition=condition)

    def end_while_loop(self, span: Any) -> Any:
        return self._end("WhileStmt", span=span)

    def begin_if(self, condition: Expr, span: Any = None) -> None:
        self._begin("if", condition=condition)

    def begin_else(self, span: Any = None) -> None:
        self._open[-1].other = []

    def end_if(self, span: Any) -> Any:
        return self._end("IfStmt", span=span)

    def begin_section(self, kind: Any, span: Any = None) -> None:
        self._begin("section", section_kind=kind)

    def end_section(self, span: Any) -> Any:
        return self._end("SectionStmt", span=span)

    def _inside(self, kind: str) -> bool:
        return any(s.kind == kind for s in self._open)

    def in_function(self) -> bool:
        return self._inside("function")

    def in_loop(self) -> bool:
        return self._inside("loop")

    def in_if(self) -> bool:
        return self._inside("if")

    def in_program(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("add_", "set_", "begin_", "end_")):  # what only values of a finished tree need
            return lambda *a, **k: None
        raise AttributeError(name)


# ---------------------------------------------------------------- enumerations


def _members(name: str) -> list[str]:
    own = getattr(pl, name, None)
    return [m for m in dir(own) if not m.startswith("_")] if own is not None else []


_OTHER = {"SectionKind": "Cube Vector VF Simt", "FunctionType": "Opaque InCore Helper Orchestration SimtVF SimtCallee", "STPhase": "Unspecified Partial Final",
          "VerificationMode": "NONE BEFORE AFTER", "VerificationLevel": "NONE BASIC FULL", "PipeType": "S V M FIX MTE1 MTE2 MTE3 ALL"}


def __getattr__(name: str) -> Any:
    """Enumerations by need: with our members of that name."""
    if name.startswith("_"):
        raise AttributeError(name)
    members = _members(name) or _OTHER.get(name, "").split()
    if members:
        made: Any = enum.Enum(name, members)
    elif name[0].isupper():
        made = type(name, (), {"__init__": lambda self, *a, **k: None})
    else:
        made = lambda *a, **k: None  # noqa: E731  registrations and printers
    globals()[name] = made
    return made


