"""The groups `facts` and `review`: what is known of entities, and what waits for a person's word."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from everlore.domain.ids import short_id
from everlore.faces.cli.call import Json, WorkspaceName, call_of, run
from everlore.faces.cli.output import Output, clean, one_line, table, when
from everlore.faces.cli.output import facts as pairs
from everlore.faces.cli.shown import (
    RecordedAt,
    ValidAt,
    alone,
    as_of,
    day,
    fact_table,
    source_table,
    statement,
    stretch,
)

if TYPE_CHECKING:
    from everlore.domain.knowledge import ReviewItem
    from everlore.domain.memories import Fact

facts = typer.Typer(help="Facts: who or what stands how to whom or what, and since when.")
review = typer.Typer(help="What waits for a person: memories set aside, entities that may be one, paths.")

FactId: TypeAlias = Annotated[
    str, typer.Argument(metavar="ID", help="A fact's id, or at least its last 8 characters.")
]
ItemId: TypeAlias = Annotated[str, typer.Argument(metavar="ID", help="As `everlore review` lists it.")]


@facts.callback(invoke_without_command=True)
def list_facts(
    ctx: typer.Context,
    workspace: WorkspaceName = "default",
    subject: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only of this entity (or its id).")
    ] = None,
    about: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only with this entity on either side.")
    ] = None,
    predicate: Annotated[str | None, typer.Option(metavar="WORD", help="Only this one: lives_in.")] = None,
    object: Annotated[
        str | None, typer.Option("--object", metavar="TEXT", help="Only whose object says this.")
    ] = None,
    valid_at: ValidAt = None,
    recorded_at: RecordedAt = None,
    history: Annotated[bool, typer.Option("--history", help="Also what held once, and when.")] = False,
    limit: Annotated[int, typer.Option(help="At most so many.")] = 50,
    offset: Annotated[int, typer.Option(metavar="N", help="Leave out the first so many.")] = 0,
    to_json: Json = False,
) -> None:
    """List facts that hold, the latest first, or do something with one of them. Times without a zone are local.

    JSON: facts [{fact_id, lineage_id, short_id, version, subject_id, subject, predicate, object_id, object, confidence,
    valid_from, valid_to, recorded_at, superseded_at, superseded_by, review, review_reason, sources [{message_id, short_id,
    start, end, quote, author, role, at, thread}]}].
    """
    if not alone(ctx):
        return
    call = call_of(ctx)
    times = as_of(valid_at, recorded_at)

    async def look() -> "list[Fact]":
        async with call.workspace(workspace) as (_, memory):
            return await memory.facts(
                subject=subject,
                about=about,
                predicate=predicate,
                object=object,
                as_of=times,
                history=history,
                limit=limit,
                offset=offset,
            )

    found = run(look())
    if to_json:
        call.out.json({"facts": found})
    elif not found:
        call.out.line(f"No fact of the workspace {workspace} passes these filters.")
    else:
        call.out.print(fact_table(found))


@facts.command("show")
def show_fact(
    ctx: typer.Context, identifier: FactId, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """Show one fact with every source that states it, and what was believed of it when.

    JSON: fact (as in `everlore facts`), versions [fact].
    """
    call = call_of(ctx)

    async def look() -> "list[Fact]":
        async with call.workspace(workspace) as (_, memory):
            return await memory.fact_versions(identifier)

    versions = run(look())
    fact = versions[-1]
    if to_json:
        call.out.json({"fact": fact, "versions": versions})
        return
    call.out.print(
        pairs(
            {
                "fact": statement(fact),
                "id": f"{fact.lineage_id}, version {fact.version}",
                "holds": None if fact.review else stretch(fact.valid_from, fact.valid_to),
                "sure": f"{fact.confidence:.2f}",
                "review": f"{fact.review}: {fact.review_reason}" if fact.review else None,
            }
        )
    )
    if fact.sources:
        call.out.line()
        call.out.print(source_table(fact.sources))
    if len(versions) > 1:
        call.out.line()
    for version in versions if len(versions) > 1 else ():
        until = f" to {when(version.superseded_at)}" if version.superseded_at else ""
        held = stretch(version.valid_from, version.valid_to)
        call.out.line(f"{version.version}. believed from {when(version.recorded_at)}{until}: {held}")


@facts.command("confirm")
def confirm_fact(
    ctx: typer.Context, identifier: FactId, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """Say that a fact is right: it is sure from then on.

    JSON: fact.
    """
    _decide_fact(ctx, identifier, workspace, right=True, to_json=to_json)


@facts.command("reject")
def reject_fact(
    ctx: typer.Context, identifier: FactId, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """Say that a fact is wrong: it never held, and is not stated again.

    JSON: fact.
    """
    _decide_fact(ctx, identifier, workspace, right=False, to_json=to_json)


def _decide_fact(ctx: typer.Context, identifier: str, workspace: str, *, right: bool, to_json: bool) -> None:
    call = call_of(ctx)

    async def decide() -> "Fact":
        async with call.workspace(workspace) as (_, memory):
            verb = memory.confirm_fact if right else memory.reject_fact
            return await verb(identifier)

    fact = run(decide())
    if to_json:
        call.out.json({"fact": fact})
    else:
        done = "Confirmed" if right else "Rejected"
        call.out.line(f"{done}: {short_id(fact.lineage_id)} {statement(fact)}.")


@review.callback(invoke_without_command=True)
def list_review(
    ctx: typer.Context,
    workspace: WorkspaceName = "default",
    limit: Annotated[int, typer.Option(help="At most so many.")] = 100,
    to_json: Json = False,
) -> None:
    """List what waits for a person's word, the oldest first: memories that were set aside, entities that may be one, paths.

    JSON: review [{kind ("memory", "link", "taxonomy"), id, short_id, state ("suggested", "rejected", "quarantined"), text,
    reason, recorded_at}].
    """
    if not alone(ctx):
        return
    call = call_of(ctx)

    async def look() -> "list[ReviewItem]":
        async with call.workspace(workspace) as (_, memory):
            return await memory.review(limit=limit)

    found = run(look())
    if to_json:
        call.out.json({"review": found})
    elif not found:
        call.out.line(f"Nothing in the workspace {workspace} waits for review.")
    else:
        _print_review(call.out, found)


def _print_review(out: Output, found: "list[ReviewItem]") -> None:
    from rich.text import Text

    listed = table("since", "what", "text", "id", wide="text")
    for item in found:
        text = Text(one_line(item.text)).append(f"\n{clean(item.reason)}", style="dim")
        what = item.kind if item.kind != "memory" else f"memory, {item.state}"
        listed.add_row(day(item.recorded_at), what, text, short_id(item.id))
    out.print(listed)
    out.line("Decide with: everlore review accept ID, or everlore review reject ID")


@review.command("accept")
def accept(
    ctx: typer.Context, identifier: ItemId, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """Accept: the memory is used, the two entities are merged, the thread gets the path.

    JSON: id (as given), accepted (true).
    """
    _decide(ctx, identifier, workspace, accepted=True, to_json=to_json)


@review.command("reject")
def reject(
    ctx: typer.Context, identifier: ItemId, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """Reject for good: the memory is not distilled again, nor the link or path suggested again.

    JSON: id (as given), accepted (false).
    """
    _decide(ctx, identifier, workspace, accepted=False, to_json=to_json)


def _decide(ctx: typer.Context, identifier: str, workspace: str, *, accepted: bool, to_json: bool) -> None:
    call = call_of(ctx)

    async def decide() -> None:
        async with call.workspace(workspace) as (_, memory):
            await memory.decide(identifier, accept=accepted)

    run(decide())
    if to_json:
        call.out.json({"id": identifier, "accepted": accepted})
    else:
        call.out.line(f"{'Accepted' if accepted else 'Rejected'}: {identifier}.")
