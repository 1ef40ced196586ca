/** Lists, redrives and discards dead letters for callers. Checks permission first. */
import { Context, Effect, Layer } from "effect"
import type {
  BadRequest,
  Forbidden,
  NotFound,
  PlanRequired,
  RateLimited,
  StoreUnavailable
} from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import type { AuditAction } from "../../resources/audit/AuditEntry.ts"
import { type AuditDetail, makeEntries } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import { type DeadLetter, type DeadLetterFilter, type DeadLetterRef, DeadLetterStore } from "../runs/DeadLetterStore.ts"
import {
  type DeadLetterQuery,
  type DeadLetterSelection,
  formatCursor,
  idsMax,
  type PassStart,
  readPassStart,
  readRunIds,
  toDeadLetterFilter
} from "./DeadLetterQuery.ts"
import type { ReplayBuild } from "./ReplayMatch.ts"
import { type Matched, makeRedrive } from "./redriveLetters.ts"

export interface RedriveSelection extends DeadLetterSelection {
  /** The build that runs the letters again; `same` by default. */
  readonly build?: ReplayBuild
}

/** A dead letter in a list. */
export interface ListedLetter extends Omit<DeadLetter, "result"> {
  /** Error of the last attempt; null if its text is large, and in the result of the run. */
  readonly error: { readonly name: string; readonly message: string } | null
}

/** Letters that a pass left as they are. */
export interface SkippedLetters {
  readonly reason: string
  readonly count: number
}

/** The result of one pass. */
export interface DeadLetterPass {
  /** Letters that were redriven or discarded; in a preview, those that would be. */
  readonly count: number
  readonly skipped: ReadonlyArray<SkippedLetters>
  /** Cursor of the next pass; null if no letters are left. */
  readonly next: string | null
}

/** Maximum letters of one transaction. */
const batchMax = 100

/** Maximum letters of one pass: as many as a selection may name. */
const passMax = idsMax

/** Maximum letters that a preview of a pass examines. */
const previewMax = 5_000

/** Maximum letters that the total of a list counts. A page behind them counts one letter beyond its end. */
const countedMax = 10_000

type ReadError = Forbidden | BadRequest | StoreUnavailable

type RedriveError = ReadError | PlanRequired | RateLimited | NotFound

export class DeadLetters extends Context.Service<
  DeadLetters,
  {
    /**
     * Lists dead letters, the latest first. The total counts at most 10,000 letters, or one beyond the end of the page.
     * Requires `run: read`. A credential for some projects sees only theirs.
     */
    readonly list: (page: PageRequest, query: DeadLetterQuery) => Effect.Effect<Page<ListedLetter>, ReadError, Caller>
    /**
     * Starts at most 500 of the selected letters again, the oldest first, for the same events and streams, as runs of the type
     * `run`. Each letter starts once, also if several requests redrive it. Letters without a function keep their marks and are
     * skipped. Stops early if the plan allows no more runs. Requires `call: create` on the functions, and adds an entry to the
     * audit log.
     */
    readonly redrive: (selection: RedriveSelection) => Effect.Effect<DeadLetterPass, RedriveError, Caller>
    /** Counts the next letters that `redrive` would start, of at most 5,000. Changes nothing. */
    readonly previewRedrive: (selection: RedriveSelection) => Effect.Effect<DeadLetterPass, RedriveError, Caller>
    /**
     * Removes at most 500 of the selected letters from the list; their runs stay. Requires `call: create` on the functions, and
     * adds an entry to the audit log.
     */
    readonly discard: (selection: DeadLetterSelection) => Effect.Effect<DeadLetterPass, ReadError, Caller>
    /** Counts the next letters that `discard` would remove, of at most 5,000. Changes nothing. */
    readonly previewDiscard: (selection: DeadLetterSelection) => Effect.Effect<DeadLetterPass, ReadError, Caller>
  }
>()("@weft/core/runtime/control/DeadLetters") {
  static readonly layer = Layer.effect(
    DeadLetters,
    Effect.gen(function* () {
      const store = yield* DeadLetterStore
      const select = yield* makeSelect
      const recorded = yield* makeRecorded
      const letters = yield* makeRedrive

      return DeadLetters.of({
        list: Effect.fnUntraced(function* ({ limit, offset }, query) {
          const { env_id, permissions } = yield* requirePermission("run", [], "read")
          const only = readable(permissions, "run", "read")
          const filter = { ...(yield* toDeadLetterFilter(query)), ...(only === "all" ? {} : { only }) }
          const items = yield* store.list(env_id, { limit, offset }, filter)
          const total = yield* store.count(env_id, filter, Math.max(countedMax, offset + limit + 1))
          return { items: items.map(toListed), total }
        }),

        redrive: Effect.fnUntraced(function* (selection) {
          const selected = yield* select(selection, passMax)
          const { envId } = selected
          const matched = yield* letters.match(selected.letters, selection.build ?? "same")
          const pass = makePass(selected)
          /** Returns false if the plan does not allow the batch. */
          const redriveBatch = (batch: ReadonlyArray<Matched>) =>
            letters.redrive(envId, batch, pass.skip).pipe(
              Effect.map((count) => {
                pass.add(count, batch.at(-1)?.letter)
                return true
              }),
              Effect.catchTags({
                PlanRequired: (error) => (pass.count() > 0 ? Effect.succeed(false) : Effect.fail(error)),
                RateLimited: (error) => (pass.count() > 0 ? Effect.succeed(false) : Effect.fail(error))
              })
            )
          const run = Effect.gen(function* () {
            for (const batch of batches(matched)) if (!(yield* redriveBatch(batch))) return
          })
          yield* recorded("dead_letters.redrive", { ...selection, build: selection.build ?? "same" }, run, pass)
          return pass.result()
        }),

        previewRedrive: Effect.fnUntraced(function* (selection) {
          const selected = yield* select(selection, previewMax)
          const matched = yield* letters.match(selected.letters, selection.build ?? "same")
          const pass = makePass(selected)
          for (const each of matched) if ("reason" in each) pass.skip(each.reason, 1)
          pass.add(matched.filter((each) => "match" in each).length, selected.letters.at(-1))
          return pass.result()
        }),

        discard: Effect.fnUntraced(function* (selection) {
          const selected = yield* select(selection, passMax)
          const pass = makePass(selected)
          const run = Effect.gen(function* () {
            for (const batch of batches(selected.letters)) {
              const ids = batch.map(({ run_id }) => run_id)
              pass.add((yield* store.discard(selected.envId, ids)).length, batch.at(-1))
            }
          })
          yield* recorded("dead_letters.discard", selection, run, pass)
          return pass.result()
        }),

        previewDiscard: Effect.fnUntraced(function* (selection) {
          const selected = yield* select(selection, previewMax)
          const pass = makePass(selected)
          pass.add(selected.letters.length, selected.letters.at(-1))
          return pass.result()
        })
      })
    })
  )
}

const toListed = ({ result, ...letter }: DeadLetter): ListedLetter => {
  const { error }: { readonly error?: { readonly name: string; readonly message: string } } = JSON.parse(result ?? "{}")
  return { ...letter, error: error === undefined ? null : { name: error.name, message: error.message } }
}

interface Selected {
  readonly envId: EnvId
  readonly start: PassStart
  readonly letters: ReadonlyArray<DeadLetterRef>
  /** True if letters are behind these. */
  readonly hasMore: boolean
  /** Number of ids of the selection that are no letters. */
  readonly unknown: number
}

/** Returns a function that selects the next letters whose functions the caller may call. */
const makeSelect = Effect.map(DeadLetterStore, (store) =>
  Effect.fnUntraced(function* (selection: DeadLetterSelection, limit: number) {
    const { env_id, permissions } = yield* requirePermission("call", [], "create")
    const { functions = [], ...filter } = yield* toDeadLetterFilter(selection)
    const start = yield* readPassStart(selection.cursor, yield* currentTime)
    const runIds = selection.ids === undefined ? undefined : yield* readRunIds(selection.ids)
    const allowed = readable(permissions, "call", "create")
    const until = filter.until === undefined || filter.until > start.until ? start.until : filter.until
    const which: DeadLetterFilter = {
      ...filter,
      functions: allowed === "all" ? functions : [...functions, allowed],
      ...(runIds === undefined ? { until } : { runIds })
    }
    const found = yield* store.after(env_id, which, start.position, limit + 1)
    const letters = found.slice(0, limit)
    const unknown = runIds === undefined ? 0 : runIds.length - letters.length
    return { envId: env_id, start, letters, hasMore: found.length > letters.length, unknown } satisfies Selected
  })
)

interface Pass {
  readonly add: (count: number, last: DeadLetterRef | undefined) => void
  readonly skip: (reason: string, count: number) => void
  readonly count: () => number
  readonly result: () => DeadLetterPass
}

/** Counts what happens to the letters of a pass. */
const makePass = ({ start, letters, hasMore, unknown }: Selected): Pass => {
  const skipped = new Map<string, number>()
  let count = 0
  let last: DeadLetterRef | undefined
  const skip = (reason: string, more: number): void => {
    skipped.set(reason, (skipped.get(reason) ?? 0) + more)
  }
  if (unknown > 0) skip("no dead letter has this id", unknown)
  return {
    skip,
    add: (more, until) => {
      count += more
      last = until ?? last
    },
    count: () => count,
    result: () => ({
      count,
      skipped: [...skipped].map(([reason, n]) => ({ reason, count: n })),
      next: last !== undefined && (hasMore || last !== letters.at(-1)) ? formatCursor(start, last) : null
    })
  }
}

/** Returns a function that runs a pass, and adds its entry to the audit log, also for a part of the letters. */
const makeRecorded = Effect.gen(function* () {
  const audit = yield* AuditStore
  const entries = yield* makeEntries

  return Effect.fnUntraced(function* <E>(
    action: AuditAction,
    { ids, cursor: _, ...query }: RedriveSelection,
    run: Effect.Effect<void, E>,
    pass: Pass
  ): Effect.fn.Return<void, E | StoreUnavailable, Caller> {
    const record = Effect.gen(function* () {
      const toEntry = yield* entries
      const { count, skipped } = pass.result()
      const details: Record<string, AuditDetail | undefined> = {
        ...query,
        ...(ids === undefined ? {} : { ids: ids.length }),
        letters: count,
        skipped: skipped.reduce((sum, each) => sum + each.count, 0)
      }
      yield* audit.append([toEntry({ action, details })])
    })
    const caller = yield* Caller
    const recordOnce = Effect.provideService(record, Caller, caller)
    yield* Effect.onError(run, () => Effect.ignore(recordOnce, { log: "Warn" }))
    yield* Effect.uninterruptible(recordOnce)
  })
})

const batches = <A>(items: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / batchMax) }, (_, index) =>
    items.slice(index * batchMax, (index + 1) * batchMax)
  )
