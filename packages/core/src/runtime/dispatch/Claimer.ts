/**
 * Claims due deliveries from the store while there are free slots.
 *
 * It sleeps until an event is published, a slot is released while deliveries are pending, or the next retry is due. The
 * store poller finds deliveries without a notification. An idle claimer sends nothing to the store.
 *
 * When runs of a group end, the next claim unparks the group's deliveries and claims them at once. So a group with one
 * run at a time needs two transactions per run, or three if nodes share a database.
 */
import { Clock, Context, Effect, Latch, Layer } from "effect"
import { freshIdsNow, RunId } from "../../foundation/Ids.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime, Timestamp } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { ActivePauses } from "../journal/ActivePauses.ts"
import { JournalStore } from "../journal/JournalStore.ts"
import { LocalRuns, toLocalId } from "../journal/LocalRuns.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { StorePoller } from "../journal/StorePoller.ts"
import { latestActivity } from "../runs/Activity.ts"
import type { Group } from "../runs/Group.ts"
import * as ClaimerState from "./ClaimerState.ts"
import { type ClaimUrgency, countClaimSlots, Slots } from "./Slots.ts"

/** Maximum deliveries per claim. */
const claimMax = 512

/** Maximum groups per claim; the others are in the next one. */
const freedMax = 100

/** Maximum sleep before the loop reads the clock again, in milliseconds: timers are limited to 24 days. */
const sleepMaxMs = 3_600_000

/** Delay of a claim with urgency `soon`, in milliseconds. */
const soonMs = 10

/** Pause in milliseconds after a claim that got nothing because other nodes held all due deliveries. */
const contendedDelayMs = 1_000

/** Pause in milliseconds after the store did not answer. */
const unavailableDelayMs = 1_000

export class Claimer extends Context.Service<
  Claimer,
  {
    /** Claims at once, after a short delay, or not at all. */
    readonly claim: (urgency: ClaimUrgency) => void
    /** Claims at `dueAt`, when a released delivery is due. */
    readonly claimAt: (dueAt: Timestamp) => void
    /** Unparks deliveries of a group of which a run has ended in the store. Returns at once. */
    readonly unparkLater: (group: Group) => void
    /** Stops claiming, also for new events. Waits until a claim in flight has ended. */
    readonly stop: Effect.Effect<void>
  }
>()("@weft/core/runtime/dispatch/Claimer") {
  static readonly layer = Layer.effect(
    Claimer,
    Effect.gen(function* () {
      const { claim, unpark } = yield* makeClaim
      const lease = yield* NodeLease
      const slots = yield* Slots
      const poller = yield* StorePoller
      const clock = yield* Clock.Clock
      const freed = new FreedGroups()
      let state = ClaimerState.initialState
      /** Wakes the loop, which reads the state again. */
      const wake = Latch.makeUnsafe(false)
      /** Open while no claim is in flight. `dispatch` sets it. */
      const idle = Latch.makeUnsafe(true)

      /** Applies an event to the state. Returns true if the state has changed. */
      const dispatch = (event: ClaimerState.ClaimerEvent): boolean => {
        const before = state
        state = ClaimerState.transition(before, event)
        if (ClaimerState.isClaiming(state)) idle.closeUnsafe()
        else idle.openUnsafe()
        return state !== before
      }
      const request = (next: ClaimerState.NextClaim) => {
        if (dispatch({ _tag: "request", next })) wake.openUnsafe()
      }
      const claimNow = () => request(ClaimerState.now)
      const claimAt = (dueAt: Timestamp) => request(ClaimerState.at(dueAt))
      /** Assumes pending deliveries in the store, so that new ones queue behind them. */
      const assumeBacklog = () => slots.endClaim({ all: true, envs: [] })

      /** Sleeps until a claim is due or a group is to be unparked. */
      const awaitWork = Effect.gen(function* () {
        while (freed.isEmpty()) {
          const pause = Math.min(ClaimerState.waitMs(state, yield* Clock.currentTimeMillis), sleepMaxMs)
          if (pause <= 0) return
          yield* Effect.timeoutOption(wake.await, pause)
          wake.closeUnsafe()
        }
      })

      const unparkFreed = Effect.suspend(() => {
        const groups = freed.take()
        return Effect.onError(unpark(groups), () => Effect.sync(() => freed.add(groups)))
      })

      const claimOnce = Effect.suspend(() => {
        const groups = freed.take()
        // Runs of groups below their limit often end without anything to claim.
        const limit = ClaimerState.isRequestedNow(state) || groups.length === 0 ? claimMax : freedMax
        dispatch({ _tag: "begin" })
        const onFailure = () => {
          freed.add(groups)
          assumeBacklog()
          dispatch({ _tag: "fail" })
        }
        const onEnd = (next: ClaimerState.NextClaim) => {
          if (ClaimerState.isStopped(state)) assumeBacklog()
          dispatch({ _tag: "end", next })
        }
        return Effect.matchCauseEffect(claim(groups, limit), {
          onFailure: (cause) => Effect.andThen(Effect.sync(onFailure), Effect.failCause(cause)),
          onSuccess: (next) => Effect.sync(() => onEnd(next))
        })
      })

      const work = Effect.suspend(() => (ClaimerState.isStopped(state) ? unparkFreed : claimOnce))

      const retryLater = Effect.andThen(Effect.sleep(unavailableDelayMs), Effect.sync(claimNow))
      yield* forkSupervised(
        { name: "The claimer", afterFailure: retryLater },
        Effect.uninterruptibleMask((restore) => Effect.andThen(restore(awaitWork), work))
      )

      yield* subscribe(
        (message) =>
          message.type === "deliveries:waiting" && message.node_id !== lease.nodeId
            ? Effect.sync(claimNow)
            : Effect.void,
        Effect.sync(claimNow)
      )

      yield* poller.onPoll(({ next_due_at }) => {
        if (next_due_at === null) return
        claimAt(next_due_at)
        // A timer does not notice that the clock was set meanwhile.
        if (next_due_at <= clock.currentTimeMillisUnsafe()) wake.openUnsafe()
      })

      // Other nodes claim the deliveries that the last runs of this node unpark.
      yield* Effect.addFinalizer(() =>
        Effect.ignore(
          Effect.whileLoop({ while: () => !freed.isEmpty(), body: () => unparkFreed, step: () => undefined })
        )
      )

      return Claimer.of({
        claim: (urgency) => {
          if (urgency === "now") claimNow()
          else if (urgency === "soon") claimAt(addMillis(Timestamp.make(clock.currentTimeMillisUnsafe()), soonMs))
        },
        claimAt,
        unparkLater: (group) => {
          freed.add([group])
          wake.openUnsafe()
        },
        stop: Effect.suspend(() => {
          dispatch({ _tag: "stop" })
          assumeBacklog()
          return idle.await
        })
      })
    })
  )
}

/** Groups of which a run has ended, and whose deliveries are not unparked yet. */
class FreedGroups {
  readonly #groups = new Map<string, Group>()

  isEmpty(): boolean {
    return this.#groups.size === 0
  }

  add(groups: ReadonlyArray<Group>): void {
    for (const group of groups) this.#groups.set(`${group.env_id} ${group.key}`, group)
  }

  /** Removes and returns the oldest groups, at most `freedMax`. */
  take(): ReadonlyArray<Group> {
    const taken = [...this.#groups].slice(0, freedMax)
    for (const [id] of taken) this.#groups.delete(id)
    return taken.map(([, group]) => group)
  }
}

/**
 * Returns `claim`, which executes one claim, and `unpark`, which unparks deliveries for other nodes.
 *
 * `claim` returns the next claim: at once if more deliveries are due, or at the time of the next pending one.
 */
const makeClaim = Effect.gen(function* () {
  const store = yield* JournalStore
  const lease = yield* NodeLease
  const slots = yield* Slots
  const bus = yield* ClusterBus
  const fresh = yield* freshIdsNow
  const localRuns = yield* LocalRuns
  const pauses = yield* ActivePauses

  /** Handles a claim with an unknown result. */
  const markFailed = (runIds: ReadonlyArray<RunId>) => {
    localRuns.end(runIds)
    localRuns.markUncertain()
  }

  const notifyNodes = bus.sendControl([{ type: "deliveries:waiting", node_id: lease.nodeId }])

  const unpark = Effect.fnUntraced(function* (groups: ReadonlyArray<Group>) {
    if (groups.length > 0 && (yield* store.unpark(groups, yield* currentTime)) > 0) yield* notifyNodes
  })

  const claim = Effect.fnUntraced(function* (freed: ReadonlyArray<Group>, limit: number) {
    const wanted = Math.min(slots.free(), limit)
    if (wanted === 0) {
      slots.endClaim({ all: true, envs: [] })
      yield* unpark(freed)
      return ClaimerState.none
    }
    slots.beginClaim()
    const now = yield* currentTime
    const renewed = lease.full(now)
    const exclude = slots.full()
    const runIds = Array.from({ length: wanted }, () => fresh(RunId))
    localRuns.begin(runIds)
    const { claims, parked, unparked, next_due_at } = yield* store
      .claim({ lease: renewed, now, runIds, perEnv: slots.perEnv, exclude, paused: pauses.all(), freed })
      .pipe(Effect.onError(() => Effect.sync(() => markFailed(runIds))))
    const claimed = new Set(claims.map(toLocalId))
    localRuns.end(runIds.filter((runId) => !claimed.has(runId)))
    lease.renewed(renewed)
    for (const claim of claims) slots.hold(claim.run.env_id, countClaimSlots(claim))
    // A due delivery that was not claimed needs a slot, not a timer.
    const leftBehind = next_due_at !== null && next_due_at <= now
    slots.endClaim({ all: leftBehind, envs: exclude })
    if (unparked > 0 && (leftBehind || exclude.length > 0)) yield* notifyNodes
    // The start of a run is published before anything that its code emits. A run that continues has started before.
    const begun = bus.hasSubscribers() ? claims.filter(({ delivery }) => delivery.continues === null) : []
    if (begun.length > 0) yield* bus.publish(begun.map(({ run }) => latestActivity(run)))
    for (const claimed of claims) slots.begin(claimed)
    if (!leftBehind) return next_due_at === null ? ClaimerState.none : ClaimerState.at(next_due_at)
    return claims.length + parked > 0 ? ClaimerState.now : ClaimerState.at(addMillis(now, contendedDelayMs))
  })

  return { claim, unpark }
})
