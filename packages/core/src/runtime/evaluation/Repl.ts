/**
 * Sessions that evaluate inputs and keep their variables. Each input is a run of the type `repl`, with exactly the rights
 * of its caller.
 *
 * A session is an isolate in the memory of this node. It ends with its variables by idle time, age, processor time or
 * memory, or with the node. No other node has it, and only the credential that opened it can use it.
 */
import { Context, Deferred, Effect, Exit, Layer } from "effect"
import type { Busy, ContentDamaged, Forbidden, NotFound } from "../../foundation/Errors.ts"
import { freshIdsNow, ReplId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { utf8Length } from "../../foundation/Utf8.ts"
import { Sandbox } from "../../platform/sandbox/Sandbox.ts"
import { makeEntries } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { Sources } from "../../resources/builds/Sources.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import type { EvaluationError, EvaluationHooks } from "./Evaluations.ts"
import { missing, OpenSessions, occupy } from "./OpenSessions.ts"
import { makeReplInputs, type ReplEnd, type ReplInput } from "./ReplInputs.ts"
import { ReplProgram } from "./ReplProgram.ts"
import { type Completion, findExpiry, lostReason, type ReplRecord, ReplSession } from "./ReplSession.ts"
import { checkSource } from "./SourceLimits.ts"

export interface NewRepl {
  /** Project of the build of the context; without it none. */
  readonly project?: string
  /** Id of the build, or `deployed`, which is the default. */
  readonly build_id?: string
}

export interface CompletionInput {
  readonly source: string
  /** Position of the cursor in the source, in UTF-16 units. */
  readonly cursor: number
}

/** Interval of the checks whether a busy session has ended its input, in milliseconds. */
const busyRoundMs = 10_000

export class Repl extends Context.Service<
  Repl,
  {
    /**
     * Opens a session on this node. Requires `eval: execute`, and for a build `build: create` and `build: execute` on its
     * project. `PlanRequired` if the plan allows none, or no more.
     */
    readonly open: (input: NewRepl) => Effect.Effect<ReplRecord, EvaluationError, Caller>
    /** Runs an input to its end, whatever its outcome. Interruption cancels it. `Busy` while another one runs. */
    readonly input: (
      id: string,
      input: ReplInput,
      hooks?: Pick<EvaluationHooks, "onLog">
    ) => Effect.Effect<ReplEnd, EvaluationError | Busy, Caller>
    /** Returns names and members for the text before the cursor. Calls no getter, and its code has no rights. */
    readonly complete: (
      id: string,
      input: CompletionInput
    ) => Effect.Effect<Completion, Exclude<EvaluationError, ContentDamaged> | Busy, Caller>
    /** Lists the sessions of the caller on this node, oldest first. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<ReplRecord>, Forbidden, Caller>
    /** Ends a session with its variables, also while it runs an input. */
    readonly close: (id: string) => Effect.Effect<void, Forbidden | NotFound, Caller>
  }
>()("@weft/core/runtime/evaluation/Repl") {
  static readonly layer = Layer.effect(
    Repl,
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const plans = yield* Plans
      const runInput = yield* makeReplInputs
      const sessions = new OpenSessions()
      const program = new ReplProgram(sandbox, yield* freshIdsNow)
      const metrics = yield* NodeMetrics
      metrics.register(Effect.sync(() => [sessionSeries(sessions.size)]))

      const end = (session: ReplSession, reason: string) =>
        Effect.suspend(() => {
          if (!sessions.end(session, reason)) return Effect.void
          Deferred.doneUnsafe(session.ended, Exit.succeed(reason))
          return sandbox.release(session.bundle)
        })
      yield* Effect.addFinalizer(() => Effect.forEach(sessions.all(), (each) => end(each, "its node shut down")))
      const open = yield* makeOpen(program, sessions, end)
      const mine = (id: string) =>
        Effect.flatMap(requirePermission("eval", "*", "execute"), (caller) =>
          Effect.map(sessions.get(caller, id), (session) => ({ caller, session }))
        )

      return Repl.of({
        open,
        input: Effect.fnUntraced(function* (id, given, { onLog } = {}) {
          const { caller, session } = yield* mine(id)
          const ended = yield* occupy(session, runInput(session, caller, given, onLog))
          if (ended.ended !== null) yield* end(session, ended.ended)
          return ended
        }),
        complete: Effect.fnUntraced(function* (id, { source, cursor }) {
          const { caller, session } = yield* mine(id)
          const { plan } = yield* plans.of(caller.env_id)
          yield* checkSource(plan, utf8Length(source))
          const completion = yield* occupy(session, program.complete(session.bundle, source, cursor))
          if (completion !== null) return completion
          yield* end(session, lostReason)
          return yield* missing(lostReason)
        }),
        list: ({ limit, offset }) =>
          Effect.map(requirePermission("eval", "*", "execute"), (caller) => {
            const all = sessions.of(caller)
            return {
              items: all.slice(offset, offset + limit).map((session) => session.toRecord()),
              total: all.length
            }
          }),
        close: (id) => Effect.flatMap(mine(id), ({ session }) => end(session, "it was closed"))
      })
    })
  )
}

/** Returns a function that opens sessions, each with a fiber that ends it when it expires. */
const makeOpen = Effect.fnUntraced(function* (
  program: ReplProgram,
  sessions: OpenSessions,
  end: (session: ReplSession, reason: string) => Effect.Effect<void>
) {
  const sandbox = yield* Sandbox
  const sources = yield* Sources
  const plans = yield* Plans
  const audit = yield* AuditStore
  const entries = yield* makeEntries
  const fresh = yield* freshIdsNow
  const scope = yield* Effect.scope

  const watch = Effect.fnUntraced(function* (session: ReplSession) {
    for (;;) {
      const now = yield* currentTime
      const reason = findExpiry(session, now)
      if (reason !== null) return yield* end(session, reason)
      const wait = Effect.sleep(session.isBusy ? busyRoundMs : Math.max(1, session.expiresAt - now))
      yield* Effect.raceFirst(wait, Deferred.await(session.ended))
      if (Deferred.isDoneUnsafe(session.ended)) return
    }
  })

  return Effect.fnUntraced(function* ({ project, build_id = "deployed" }: NewRepl) {
    const caller = yield* requirePermission("eval", "*", "execute")
    const { plan } = yield* plans.of(caller.env_id)
    yield* checkSource(plan, 0)
    const build = project === undefined ? null : yield* sources.context(project, build_id)
    const id = fresh(ReplId)
    const toEntry = yield* entries
    const opening = Effect.gen(function* () {
      const bundle = yield* sources.session(id, { env_id: caller.env_id, build })
      const details = { repl_id: id, ...(build === null ? {} : { build_id: build.build_id }) }
      yield* audit.append([toEntry({ action: "repl.open", details })])
      yield* Effect.onError(program.open(bundle), () => sandbox.release(bundle))
      const session = new ReplSession(id, caller, build, bundle, yield* currentTime)
      sessions.add(session)
      yield* Effect.forkIn(watch(session), scope)
      return session.toRecord()
    })
    return yield* sessions.reserve(caller.env_id, plan.max_repl_sessions, opening)
  })
})

const sessionSeries = (value: number) =>
  ({ type: "gauge", name: "weft_repl_sessions", help: "Open sessions of this node", labels: {}, value }) as const
