/** The open sessions of a node, their number per environment, and their ends. */
import { Deferred, Effect } from "effect"
import { Busy, NotFound, PlanRequired } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import type { Identity } from "../../tenants/access/Caller.ts"
import { ReplSession } from "./ReplSession.ts"

/** Ended sessions whose reasons are remembered. */
const endedMax = 1_000

/** The open sessions of a node, and the reasons for the end of the latest others. */
export class OpenSessions {
  readonly #open = new Map<string, ReplSession>()
  readonly #opening = new Map<EnvId, number>()
  readonly #ended = new Map<string, { readonly session: ReplSession; readonly reason: string }>()

  get size(): number {
    return this.#open.size
  }

  all(): ReadonlyArray<ReplSession> {
    return [...this.#open.values()]
  }

  of(caller: Identity): ReadonlyArray<ReplSession> {
    return this.all().filter((session) => session.isOf(caller))
  }

  /** Returns an open session of the caller. */
  get(caller: Identity, id: string): Effect.Effect<ReplSession, NotFound> {
    return Effect.suspend(() => {
      const found = this.find(caller, id)
      return found instanceof ReplSession ? Effect.succeed(found) : Effect.fail(missing(found))
    })
  }

  /** Returns the session, the reason for its end, or null if the caller has none of this id here. */
  find(caller: Identity, id: string): ReplSession | string | null {
    const open = this.#open.get(id)
    if (open?.isOf(caller) === true) return open
    const ended = this.#ended.get(id)
    return ended?.session.isOf(caller) === true ? ended.reason : null
  }

  add(session: ReplSession): void {
    this.#open.set(session.id, session)
  }

  /** Removes a session. False if it ended before. */
  end(session: ReplSession, reason: string): boolean {
    if (!this.#open.delete(session.id)) return false
    this.#ended.set(session.id, { session, reason })
    const [oldest] = this.#ended.keys()
    if (this.#ended.size > endedMax && oldest !== undefined) this.#ended.delete(oldest)
    return true
  }

  /** Runs the opening of a session within the limit of the environment; -1 for none. */
  reserve<A, E, R>(
    envId: EnvId,
    limit: number,
    opening: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | PlanRequired, R> {
    return Effect.suspend((): Effect.Effect<A, E | PlanRequired, R> => {
      const before = this.#opening.get(envId) ?? 0
      const open = before + this.all().filter((session) => session.envId === envId).length
      if (limit !== -1 && open >= limit) return Effect.fail(tooMany(limit))
      this.#opening.set(envId, before + 1)
      return Effect.ensuring(
        opening,
        Effect.sync(() => {
          const left = (this.#opening.get(envId) ?? 1) - 1
          if (left === 0) this.#opening.delete(envId)
          else this.#opening.set(envId, left)
        })
      )
    })
  }
}

/** Runs an effect with the session to itself. Fails as soon as the session ends. */
export const occupy = <A, E, R>(
  session: ReplSession,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | Busy | NotFound, R> =>
  Effect.suspend((): Effect.Effect<A, E | Busy | NotFound, R> => {
    if (session.isBusy)
      return Effect.fail(new Busy({ reason: "The session evaluates another input: wait for its end" }))
    session.isBusy = true
    const closed = Effect.flatMap(Deferred.await(session.ended), (reason) => Effect.fail(missing(reason)))
    return Effect.ensuring(
      Effect.raceFirst(work, closed),
      Effect.map(currentTime, (now) => {
        session.isBusy = false
        session.usedAt = now
      })
    )
  })

const tooMany = (limit: number): PlanRequired =>
  new PlanRequired({
    reason:
      limit === 0
        ? "The plan allows no sessions (max_repl_sessions)"
        : `The plan allows ${limit} open sessions on a node (max_repl_sessions): close one`
  })

/** Returns the error for a session that is not open here. `reason` says why it ended, if that is known. */
export const missing = (reason: string | null): NotFound =>
  new NotFound({
    resource:
      reason === null
        ? "session on this node: it has ended with its variables, or another node has it"
        : `session any more: ${reason}, and its variables are gone`
  })
