"""Does an external checkout know every operation that a generated text calls, with these keywords and this many operands?

Its parser (their_parser.py) takes the operations' own word for their operands; here their names and parameters are read off the functions.
"""
from __future__ import annotations

import ast
from pathlib import Path


class Spelling:
    def __init__(self, checkout: Path) -> None:
        root = checkout / "python" / "pypto_pro"
        self.names: set[str] = set()
        for node in ast.parse((root / "language" / "__init__.py").read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
                self.names = set(ast.literal_eval(node.value))
        if not self.names:
            raise ValueError("the language package of this checkout has no literal __all__")
        self.system = self._functions(root / "ir" / "op" / "system_ops.py")
        self.functions: dict[str, ast.arguments] = {}
        for path in sorted((root / "language").glob("*.py")):
            self.functions.update(self._functions(path))

    @staticmethod
    def _functions(path: Path) -> dict[str, ast.arguments]:
        return {n.name: n.args for n in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(n, ast.FunctionDef)}

    def unknown(self, text: str) -> list[str]:
        """What the text calls and the checkout does not know."""
        found = []
        for call in ast.walk(ast.parse(text)):
            if not isinstance(call, ast.Call):
                continue
            path = ast.unparse(call.func).split(".")
            if path[0] != "pl" or len(path) not in (2, 3):
                continue
            if path[1] == "system" and len(path) == 3:
                arguments = self.system.get(path[2])
                if arguments is None:
                    found.append(".".join(path))
                    continue
            elif len(path) == 2:
                if path[1] not in self.names:
                    found.append(".".join(path))
                    continue
                arguments = self.functions.get(path[1])
            else:
                continue
            if arguments is None:
                continue  # exported, its parameters are elsewhere
            known = {a.arg for a in arguments.args + arguments.kwonlyargs + arguments.posonlyargs}
            if arguments.kwarg is None:
                found += [f"{'.'.join(path)}({k.arg}=)" for k in call.keywords if k.arg not in known]
            if arguments.vararg is None and len(call.args) > len(arguments.args) + len(arguments.posonlyargs):
                found.append(f"{'.'.join(path)} with {len(call.args)} operands")
        return found
