"""Whether a statement names its workspace: each table of a workspace is bound by the parameter, or joined to one that is.

A table is bound by `workspace_id = <the workspace>` or by an equality of `workspace_id` with something that is bound, both as a
conjunct of a WHERE or a join. What a common table expression or a subquery gives is bound because its own tables are.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pglast
from pglast import ast as _ast
from pglast.enums import A_Expr_Kind, BoolExprType, JoinType, SetOperation

Marker = Callable[[Any], bool]

# pglast tells the type checker nothing of its trees.
ast: Any = _ast
parse: Any = pglast.parse_sql
_PARAMETER = re.compile(r"%%|%s|%\((\w+)\)s")


@dataclass
class _Scope:
    """What the names of one SELECT, UPDATE or DELETE stand for: a table (bound or not), or anything else."""

    tables: dict[str, str] = field(default_factory=dict[str, str])
    derived: set[str] = field(default_factory=set[str])
    bound: set[str] = field(default_factory=set[str])
    edges: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    outer: "_Scope | None" = None
    ctes: frozenset[str] = frozenset()

    def gives(self, name: str) -> bool:
        """Whether an outer query has it; that one is checked by itself."""
        return self.outer is not None and (
            name in self.outer.tables or name in self.outer.derived or self.outer.gives(name)
        )


class Checker:
    """`tables`: those that have a workspace_id, views included. `marker`: whether an expression is the workspace."""

    def __init__(self, tables: frozenset[str], marker: Marker) -> None:
        self._tables, self._marker = tables, marker
        self.found: list[str] = []

    def statement(self, node: Any, outer: _Scope | None = None, *, view: bool = False) -> None:
        """Check a statement with all that is inside it. `view`: its own tables are bound by whoever reads it."""
        if node is None or not isinstance(
            node, ast.SelectStmt | ast.InsertStmt | ast.UpdateStmt | ast.DeleteStmt
        ):
            return
        scope = _Scope(outer=outer, ctes=outer.ctes if outer else frozenset())
        for cte in node.withClause.ctes if node.withClause else ():
            scope.ctes |= {cte.ctename}
            self.statement(cte.ctequery, _Scope(outer=outer, ctes=scope.ctes))
        if isinstance(node, ast.SelectStmt) and node.op != SetOperation.SETOP_NONE:
            for part in (node.larg, node.rarg):
                self.statement(part, scope, view=view)
            return
        if isinstance(node, ast.InsertStmt):
            self._insert(node, scope)
            return
        if isinstance(node, ast.UpdateStmt | ast.DeleteStmt):
            self._source(node.relation, scope)
        sources = node.usingClause if isinstance(node, ast.DeleteStmt) else node.fromClause
        for source in sources or ():
            self._source(source, scope)
        self._conditions(node.whereClause, scope)
        for name in set(scope.tables) - _reached(scope):
            if not view:
                self.found.append(f"{scope.tables[name]} as {name} is not bound to the workspace")
        for child in _subselects(node):
            self.statement(child, scope)

    def _source(self, node: Any, scope: _Scope) -> set[str]:
        """Note what stands in a FROM; returns the names that it gives."""
        if isinstance(node, ast.RangeVar):
            name = node.alias.aliasname if node.alias else node.relname
            if node.schemaname == "everlore" and node.relname in self._tables:
                scope.tables[name] = cast("str", node.relname)
            elif node.schemaname is None and node.relname in scope.ctes:
                scope.derived.add(name)
            return {name}
        if isinstance(node, ast.JoinExpr):
            left, right = self._source(node.larg, scope), self._source(node.rarg, scope)
            inner = node.jointype == JoinType.JOIN_INNER
            if node.usingClause and any(one.sval == "workspace_id" for one in node.usingClause):
                scope.edges += [(a, b) for a in left for b in right]
                scope.edges += [(b, a) for a in left for b in right if inner]
            self._conditions(node.quals, scope, None if inner else right)
            return left | right
        if isinstance(node, ast.RangeSubselect):
            self.statement(node.subquery, scope if node.lateral else _without_siblings(scope))
            scope.derived.add(node.alias.aliasname)
            return {node.alias.aliasname}
        return set()

    def _conditions(self, node: Any, scope: _Scope, only: set[str] | None = None) -> None:
        """Read conjuncts. `only`: an outer join binds no more than these."""
        if isinstance(node, ast.BoolExpr) and node.boolop == BoolExprType.AND_EXPR:
            for part in node.args:
                self._conditions(part, scope, only)
        elif isinstance(node, ast.A_Expr) and node.kind == A_Expr_Kind.AEXPR_OP and node.name[0].sval == "=":
            pairs = [(node.lexpr, node.rexpr)]
            if isinstance(node.lexpr, ast.RowExpr) and isinstance(node.rexpr, ast.RowExpr):
                pairs = list(zip(node.lexpr.args, node.rexpr.args, strict=True))
            for one, other in (*pairs, *((b, a) for a, b in pairs)):
                self._equality(one, other, scope, only)

    def _equality(self, one: Any, other: Any, scope: _Scope, only: set[str] | None) -> None:
        name = _owner(one, scope)
        if name is None or (only is not None and name not in only):
            return
        if self._marker(other):
            scope.bound.add(name)
        elif (source := _owner(other, scope)) is not None:
            if scope.gives(source) and source not in scope.tables:
                scope.bound.add(name)
            else:
                scope.edges.append((source, name))

    def _insert(self, node: Any, scope: _Scope) -> None:
        self.statement(node.selectStmt, scope)
        table = node.relation.relname
        if node.relation.schemaname == "everlore" and table in self._tables:
            columns = [column.name for column in node.cols or ()]
            if "workspace_id" not in columns:
                self.found.append(f"{table} is inserted into without its workspace_id")
            elif not all(self._is_own(row, columns.index("workspace_id")) for row in _rows(node.selectStmt)):
                self.found.append(f"{table} is inserted into with another workspace_id than the workspace's")
        for child in _subselects(node):
            self.statement(child, scope)

    def _is_own(self, row: Any, place: int) -> bool:
        """Whether a value is the workspace, or the workspace_id of something that is bound."""
        if place >= len(row):
            return False
        value = row[place].val if isinstance(row[place], ast.ResTarget) else row[place]
        return self._marker(value) or _column(value)[1] == "workspace_id"


def _without_siblings(scope: _Scope) -> _Scope:
    return _Scope(outer=scope.outer, ctes=scope.ctes)


def _reached(scope: _Scope) -> set[str]:
    reached = scope.bound | scope.derived
    while more := {b for a, b in scope.edges if a in reached} - reached:
        reached |= more
    return reached


def _column(node: Any) -> tuple[str | None, str]:
    """Qualifier and name of a column; nothing for any other expression."""
    if not isinstance(node, ast.ColumnRef) or not all(isinstance(part, ast.String) for part in node.fields):
        return None, ""
    parts = [part.sval for part in node.fields]
    return (parts[-2] if len(parts) > 1 else None), parts[-1]


def _owner(node: Any, scope: _Scope) -> str | None:
    """Whose workspace_id an expression is; None if it is something else."""
    qualifier, name = _column(node)
    if name != "workspace_id":
        return None
    if qualifier is not None:
        return qualifier
    return next(iter(scope.tables)) if len(scope.tables) == 1 else None


def _rows(select: Any) -> list[Any]:
    if select.op != SetOperation.SETOP_NONE:
        return [*_rows(select.larg), *_rows(select.rarg)]
    return list(select.valuesLists or [select.targetList])


def _subselects(node: Any) -> Iterator[Any]:
    """Subqueries in the expressions of a statement, not those in its WITH or FROM, nor those within subqueries."""
    for name in node:
        if name not in ("withClause", "fromClause", "usingClause", "larg", "rarg", "selectStmt"):
            yield from _inside(getattr(node, name))
    sources = getattr(node, "fromClause", None) or getattr(node, "usingClause", None) or ()
    for source in sources:
        yield from _in_joins(source)


def _in_joins(source: Any) -> Iterator[Any]:
    if isinstance(source, ast.JoinExpr):
        yield from _inside(source.quals)
        yield from _in_joins(source.larg)
        yield from _in_joins(source.rarg)
    elif isinstance(source, ast.RangeFunction):
        yield from _inside(source.functions)


def _inside(node: Any) -> Iterator[Any]:
    if isinstance(node, tuple | list):
        for one in cast("list[Any]", node):
            yield from _inside(one)
    elif isinstance(node, ast.SubLink):
        yield node.subselect
        yield from _inside(node.testexpr)
    elif isinstance(node, ast.Node):
        for name in node:
            yield from _inside(getattr(node, name))


def _bare(node: Any) -> Any:
    while isinstance(node, ast.TypeCast):
        node = node.arg
    return node


def unbound(query: str, tables: frozenset[str]) -> list[str]:
    """What is wrong with a named query, whose parameters are written as `%(name)s`."""
    numbers: dict[str, int] = {"workspace": 1}

    def number(match: re.Match[str]) -> str:
        name = match.group(1) or "by place"
        return "%" if match.group() == "%%" else f"${numbers.setdefault(name, len(numbers) + 1)}"

    text = _PARAMETER.sub(number, query)
    if text.lstrip().lower().startswith("copy "):
        return []
    checker = Checker(tables, lambda node: isinstance(one := _bare(node), ast.ParamRef) and one.number == 1)
    for raw in parse(text):
        checker.statement(raw.stmt)
    return checker.found


def unbound_in_view(view: Any, tables: frozenset[str]) -> list[str]:
    checker = Checker(tables, lambda _: False)
    checker.statement(view.query, view=True)
    return checker.found


def unbound_in_function(text: str, tables: frozenset[str]) -> list[str]:
    """The same of a function, where the workspace is its constant `ws`."""
    (raw,) = parse(text)
    options = {option.defname: option.arg for option in raw.stmt.options}
    checker = Checker(tables, lambda node: _column(_bare(node)) == (None, "ws"))
    if options["language"].sval == "sql":
        bodies = [options["as"][0].sval] if "as" in options else []
    else:
        # The parser of plpgsql knows no types but Postgres' own.
        bodies = list(_plpgsql(pglast.parse_plpgsql(re.sub(r"\beverlore\.layer\b", "text", text))))
    for body in bodies:
        for statement in _parsed(body):
            checker.statement(statement.stmt)
            checker.found += _dynamic(statement.stmt, tables)
    return checker.found


def _plpgsql(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        tree = cast("Mapping[str, Any]", node)
        if "PLpgSQL_expr" in tree:
            yield tree["PLpgSQL_expr"]["query"]
        for value in tree.values():
            yield from _plpgsql(value)
    elif isinstance(node, list):
        for one in cast("list[Any]", node):
            yield from _plpgsql(one)


def _parsed(body: str) -> Any:
    """A statement, or an expression of plpgsql: then as if it were selected."""
    try:
        return parse(body)
    except pglast.parser.ParseError:
        return parse("select " + re.sub(r"^\s*\w+\s*:=", "", body))


def _dynamic(statement: Any, tables: frozenset[str]) -> Iterator[str]:
    """Statements that a function composes: each table by an alias, and `alias.workspace_id = $1` beside it."""
    for constant in _constants(statement):
        for table, alias in re.findall(r"(?:from|join|update)\s+everlore\.(\w+)\s+(?:as\s+)?(\w+)", constant):
            if table in tables and f"{alias}.workspace_id = $1" not in constant:
                yield f"{table} as {alias} is not bound to the workspace in a composed statement"


def _constants(node: Any) -> Iterator[str]:
    if isinstance(node, tuple | list):
        for one in cast("list[Any]", node):
            yield from _constants(one)
    elif isinstance(node, ast.A_Const):
        if isinstance(node.val, ast.String):
            yield cast("str", node.val.sval)
    elif isinstance(node, ast.Node):
        for name in node:
            yield from _constants(getattr(node, name))
