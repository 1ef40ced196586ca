/**
 * Takes due deliveries from the store whenever there are slots for them.
 *
 * It sleeps until something is published, slots free while work waits, or the next retry is due; the lookout finds
 * what nobody told of. Idle, it sends nothing.
 *
 * As runs of a group end, a claim lets in what waits for their room and takes it at once: a queue whose runs go one
 * after the other moves by two transactions a run; three where nodes share a database.
 */
import { Clock, Context, Effect, Latch, Layer } from "effect"
import { Feed } from "../activity/Feed.ts"
import { listen } from "../activity/Listener.ts"
import { forkLasting } from "../errors/Lasting.ts"
import { freshIdsNow, RunId } from "../ids/Ids.ts"
import { addMillis, now as currentTime, Timestamp } from "../ids/Timestamp.ts"
import { runActivity } from "../journal/Journal.ts"
import { JournalStore } from "../journal/JournalStore.ts"
import { Lookout } from "../journal/Lookout.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { OwnRuns } from "../journal/OwnRuns.ts"
import type { Group } from "../runs/Group.ts"
import { Slots, slotsOf, type Worth } from "./Slots.ts"

/** Deliveries in one claim. */
const claimMax = 512

/** Groups in one claim; others wait for the next. */
const freedMax = 100

/** How long the loop sleeps at most before it looks at the clock again, which costs nothing: timers end at 24 days. */
const napMs = 3_600_000

/** How soon is soon. */
const soonMs = 10

/** Pause after a claim had room, but others were taking all that was due: what they do not get is to be had then. */
const takenDelayMs = 1_000

/** Pause after the store did not answer. */
const unavailableDelayMs = 1_000

export class Claimer extends Context.Service<
  Claimer,
  {
    /** Claims if, and when, it is worth it. */
    readonly claim: (worth: Worth) => void
    /** A delivery was put back and is due at `dueAt`. */
    readonly claimAt: (dueAt: Timestamp) => void
    /** A run of the group has ended, and the store knows: what waits for its room is let in. Returns at once. */
    readonly freed: (group: Group) => void
    /** Claims no more, and lets no new delivery be born claimed. Returns when a claim under way is over. */
    readonly stop: Effect.Effect<void>
  }
>()("@weft/core/runs/Claimer") {
  static readonly layer = Layer.effect(
    Claimer,
    Effect.gen(function* () {
      const { claim, letIn } = yield* makeClaim
      const lease = yield* NodeLease
      const wake = Latch.makeUnsafe(false)
      /** Open while no claim is under way. */
      const calm = Latch.makeUnsafe(true)
      const slots = yield* Slots
      const lookout = yield* Lookout
      let wanted = true
      const clock = yield* Clock.Clock
      let stopped = false
      let nextDueAt: Timestamp | null = null
      const freed = new Map<string, Group>()

      const takeFreed = (): ReadonlyArray<Group> => {
        const taken = [...freed].slice(0, freedMax)
        for (const [id] of taken) freed.delete(id)
        return taken.map(([, group]) => group)
      }
      const addFreed = (groups: ReadonlyArray<Group>) => {
        for (const group of groups) freed.set(`${group.env_id} ${group.key}`, group)
      }

      const claimNow = () => {
        wanted = true
        wake.openUnsafe()
      }
      /** Whatever is published waits in the store, where older deliveries may wait. */
      const unknown = () => slots.endClaim({ all: true, envs: [] })
      const claimAt = (dueAt: Timestamp) => {
        if (nextDueAt !== null && nextDueAt <= dueAt) return
        nextDueAt = dueAt
        wake.openUnsafe()
      }

      /** Sleeps until a claim makes sense. */
      const idle = Effect.gen(function* () {
        while (freed.size === 0 && (stopped || !wanted)) {
          const now = yield* Clock.currentTimeMillis
          const pause = stopped || nextDueAt === null ? napMs : Math.min(nextDueAt - now, napMs)
          if (pause <= 0) return
          yield* Effect.timeoutOption(wake.await, pause)
          wake.closeUnsafe()
        }
      })

      const letInFreed = Effect.suspend(() => {
        const groups = takeFreed()
        return Effect.onError(letIn(groups), () => Effect.sync(() => addFreed(groups)))
      })

      const once = Effect.gen(function* () {
        if (stopped) return yield* letInFreed
        const groups = takeFreed()
        // Ended runs of groups that are not full come often, and leave nothing to claim.
        const most = wanted || groups.length === 0 ? claimMax : freedMax
        wanted = false
        nextDueAt = null
        calm.closeUnsafe()
        const failed = () => {
          addFreed(groups)
          unknown()
        }
        const { again, dueAt } = yield* claim(groups, most).pipe(
          Effect.onError(() => Effect.sync(failed)),
          Effect.ensuring(Effect.sync(() => calm.openUnsafe()))
        )
        if (stopped) unknown()
        if (again) claimNow()
        if (dueAt !== null) claimAt(dueAt)
      })

      const later = Effect.andThen(Effect.sleep(unavailableDelayMs), Effect.sync(claimNow))
      yield* forkLasting(
        { name: "The claimer", afterFailure: later },
        Effect.uninterruptibleMask((restore) => Effect.andThen(restore(idle), once))
      )

      yield* listen(
        (message) =>
          message.type === "deliveries:waiting" && message.node_id !== lease.nodeId
            ? Effect.sync(claimNow)
            : Effect.void,
        Effect.sync(claimNow)
      )

      yield* lookout.onSight(({ next_due_at }) => {
        if (next_due_at === null) return
        claimAt(next_due_at)
        // Whoever sleeps until then does not hear of a clock that was set meanwhile.
        if (next_due_at <= clock.currentTimeMillisUnsafe()) wake.openUnsafe()
      })

      // What the last runs of this node left is for the others.
      yield* Effect.addFinalizer(() =>
        Effect.ignore(Effect.whileLoop({ while: () => freed.size > 0, body: () => letInFreed, step: () => undefined }))
      )

      return Claimer.of({
        claim: (worth) => {
          if (worth === "now") claimNow()
          else if (worth === "soon") claimAt(addMillis(Timestamp.make(clock.currentTimeMillisUnsafe()), soonMs))
        },
        claimAt,
        freed: (group) => {
          addFreed([group])
          wake.openUnsafe()
        },
        stop: Effect.suspend(() => {
          stopped = true
          unknown()
          return calm.await
        })
      })
    })
  )
}

/**
 * `claim`: one claim. `again`: more may be had at once; `dueAt`: when the next waiting delivery is due, if none is now.
 * `letIn`: lets in what waits for others to claim.
 */
const makeClaim = Effect.gen(function* () {
  const store = yield* JournalStore
  const lease = yield* NodeLease
  const slots = yield* Slots
  const feed = yield* Feed
  const fresh = yield* freshIdsNow
  const own = yield* OwnRuns
  const nothing = { again: false, dueAt: null }

  /** Whether anything was claimed, nobody knows. */
  const giveUp = (runIds: ReadonlyArray<RunId>) => {
    own.end(runIds)
    own.doubt()
  }

  const tellOthers = feed.tell([{ type: "deliveries:waiting", node_id: lease.nodeId }])

  const letIn = Effect.fnUntraced(function* (groups: ReadonlyArray<Group>) {
    if (groups.length > 0 && (yield* store.unpark(groups, yield* currentTime)) > 0) yield* tellOthers
  })

  const claim = Effect.fnUntraced(function* (freed: ReadonlyArray<Group>, most: number) {
    const wanted = Math.min(slots.free(), most)
    if (wanted === 0) {
      slots.endClaim({ all: true, envs: [] })
      yield* letIn(freed)
      return nothing
    }
    slots.beginClaim()
    const now = yield* currentTime
    const held = lease.full(now)
    const exclude = slots.full()
    const runIds = Array.from({ length: wanted }, () => fresh(RunId))
    own.begin(runIds)
    const { claims, parked, unparked, next_due_at } = yield* store
      .claim({ lease: held, now, runIds, perEnv: slots.perEnv, exclude, freed })
      .pipe(Effect.onError(() => Effect.sync(() => giveUp(runIds))))
    const claimed = new Set(claims.map(({ run }) => run.run_id))
    own.end(runIds.filter((runId) => !claimed.has(runId)))
    lease.renewed(held)
    for (const { run, event } of claims) slots.hold(run.env_id, slotsOf(event))
    // What is due but was left behind waits for a slot, not for a time.
    const leftBehind = next_due_at !== null && next_due_at <= now
    slots.endClaim({ all: leftBehind, envs: exclude })
    if (unparked > 0 && (leftBehind || exclude.length > 0)) yield* tellOthers
    // That a run begins is told before anything that it says.
    if (feed.isHeard()) yield* feed.publish(claims.map(({ run }) => runActivity(run)))
    for (const claimed of claims) slots.begin(claimed)
    if (!leftBehind) return { again: false, dueAt: next_due_at }
    return claims.length + parked > 0
      ? { again: true, dueAt: null }
      : { again: false, dueAt: addMillis(now, takenDelayMs) }
  })

  return { claim, letIn }
})
