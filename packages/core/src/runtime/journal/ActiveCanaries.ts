/**
 * This node's copy of all active canaries, with the runs of both sides that ended here. Without a canary, a run costs one
 * comparison.
 *
 * Each node counts in memory, and `control/CanaryJudge` stores the counts in small batches. A change on another node arrives
 * as a message of the bus. If it is lost, a poll of the store finds it within 30 s.
 */
import { Context, Effect, Latch, Layer, Schedule } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { BuildId, CanaryId } from "../../foundation/Ids.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import type { Canary } from "../../resources/builds/Canary.ts"
import {
  type CanaryCounts,
  decide,
  noCounts,
  SideTally,
  subtractCounts,
  sumCounts
} from "../../resources/builds/CanaryCounts.ts"
import { CanaryStore, type KnownCanary } from "../../resources/builds/CanaryStore.ts"
import type { Run } from "../runs/Run.ts"
import { StorePoller } from "./StorePoller.ts"

/** Pause in milliseconds after the store did not answer. */
const retryMs = 1_000

/** Time in milliseconds in which retries of a rolled back canary are redirected. Later ones are the last of long delays. */
const redirectMs = 24 * 3_600_000

/** A canary that this node observes. */
export class ObservedCanary {
  readonly canary: Canary
  readonly #tallies = { canary: new SideTally(), base: new SideTally() }
  /** Counts of all nodes as of the last report, and those of this node in it. */
  #reported: { readonly all: CanaryCounts; readonly own: CanaryCounts } = { all: noCounts, own: noCounts }
  /** True if runs ended since the last report. */
  isDirty = false
  /** True if the rules decided nothing at the end of the window: only more runs can change that. */
  isDecided = false

  constructor(canary: Canary) {
    this.canary = canary
  }

  get own(): CanaryCounts {
    return { canary: this.#tallies.canary.counts, base: this.#tallies.base.counts }
  }

  /** Counts a run. Returns true if a rule is broken as far as this node knows. */
  add(run: Run, now: Timestamp): boolean {
    const side = run.build_id === this.canary.build_id ? "canary" : "base"
    const hasFailed = run.status === "failed"
    this.#tallies[side].add(hasFailed, toDuration(run))
    this.isDirty = true
    if (side === "base" || !hasFailed) return false
    const { all, own } = this.#reported
    const counts = subtractCounts(sumCounts([all, this.own]), own)
    return decide(this.canary, counts, now)?.state === "rolled_back"
  }

  /** Stores the result of a report. */
  learn(all: CanaryCounts, own: CanaryCounts): void {
    this.#reported = { all, own }
  }
}

export class ActiveCanaries extends Context.Service<
  ActiveCanaries,
  {
    /** Counts an ended run if its build is a side of a canary. */
    readonly observe: (run: Run) => void
    /** True if `observe` may count runs. */
    readonly isObserving: () => boolean
    /** Returns the build for the next attempt of a run of a rolled back canary; undefined for its own. */
    readonly findRedirect: (run: Pick<Run, "build_id" | "ns" | "var">) => BuildId | undefined
    readonly all: () => ReadonlyArray<ObservedCanary>
    /** Waits until a canary is active. */
    readonly someActive: Effect.Effect<void>
    /** Waits until a rule is broken as far as this node knows. */
    readonly someBroken: Effect.Effect<void>
    /** Reads the canaries again and notifies the other nodes. Call it after a change. */
    readonly changed: Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/runtime/journal/ActiveCanaries") {
  static readonly layer = Layer.effect(
    ActiveCanaries,
    Effect.gen(function* () {
      const store = yield* CanaryStore
      const bus = yield* ClusterBus
      const poller = yield* StorePoller
      const outdated = Latch.makeUnsafe(false)
      const active = Latch.makeUnsafe(false)
      const broken = Latch.makeUnsafe(false)
      /** By the ids of both builds. */
      let observed: ReadonlyMap<BuildId, ObservedCanary> = new Map()
      let canaries: ReadonlyMap<CanaryId, ObservedCanary> = new Map()
      let redirects: ReadonlyMap<BuildId, NonNullable<KnownCanary["redirect"]>> = new Map()
      let version = ""
      let begun = 0
      let applied = 0

      const apply = (known: ReadonlyArray<KnownCanary>) => {
        const some = known.flatMap(({ canary }) => (canary.state === "active" ? canary : []))
        canaries = new Map(
          some.map((canary) => [canary.canary_id, canaries.get(canary.canary_id) ?? new ObservedCanary(canary)])
        )
        observed = new Map(
          [...canaries.values()].flatMap((each) => [
            [each.canary.build_id, each] as const,
            [each.canary.base_build_id, each] as const
          ])
        )
        redirects = new Map(
          known.flatMap(({ canary, redirect }) => (redirect === null ? [] : [[canary.build_id, redirect] as const]))
        )
        if (some.length > 0) active.openUnsafe()
        else active.closeUnsafe()
      }

      const read = Effect.gen(function* () {
        const number = ++begun
        const known = yield* store.known(addMillis(yield* currentTime, -redirectMs))
        // A later query may have answered first.
        if (number < applied) return
        applied = number
        apply(known)
      })

      yield* Effect.retry(read, Schedule.spaced(retryMs))

      yield* subscribe(
        (message) => (message.type === "canaries:changed" ? Effect.asVoid(outdated.open) : Effect.void),
        Effect.asVoid(outdated.open)
      )
      yield* poller.onPoll(({ canaries_version }) => {
        if (canaries_version !== version) outdated.openUnsafe()
        version = canaries_version
      })
      const readOutdated = outdated.await.pipe(
        Effect.andThen(Effect.sync(() => outdated.closeUnsafe())),
        Effect.andThen(Effect.onError(read, () => Effect.sync(() => outdated.openUnsafe())))
      )
      yield* forkSupervised({ name: "The reader of canaries", afterFailure: Effect.sleep(retryMs) }, readOutdated)

      return ActiveCanaries.of({
        observe: (run) => {
          if (observed.size === 0) return
          const found = observed.get(run.build_id)
          if (found === undefined || !counts(found.canary, run)) return
          const at = run.stop_time ?? run.start_time
          if (found.add(run, at)) broken.openUnsafe()
        },
        isObserving: () => observed.size > 0,
        findRedirect: ({ build_id, ns, var: name }) => {
          if (redirects.size === 0) return undefined
          const redirect = redirects.get(build_id)
          return redirect?.functions.includes(`${ns}/${name}`) ? redirect.build_id : undefined
        },
        all: () => [...canaries.values()],
        someActive: active.await,
        someBroken: Effect.andThen(
          broken.await,
          Effect.sync(() => broken.closeUnsafe())
        ),
        changed: Effect.andThen(read, bus.sendControl([{ type: "canaries:changed" }]))
      })
    })
  )
}

/** True for runs that a canary may get: not of schedules, by hand or cancelled, and not lost with a node. */
const counts = ({ project_id, started_at }: Canary, run: Run): boolean =>
  run.project_id === project_id &&
  (run.run_type === "event" || run.run_type === "call") &&
  (run.status === "succeeded" || run.status === "failed") &&
  run.cpu_ms !== null &&
  run.start_time >= started_at

/** Returns the duration in milliseconds; null for durable runs, which wait for days. */
const toDuration = ({ activations, wall_ms }: Run): number | null => (activations === null ? wall_ms : null)
