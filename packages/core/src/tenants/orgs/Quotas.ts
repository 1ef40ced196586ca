/**
 * Quotas of a plan: runs per month, storage for their results and logs, suspended runs, pending deliveries, schedules, and the
 * depth of chains of events.
 */
import { Cache, Context, Effect, Exit, Layer } from "effect"
import { type NotFound, PlanRequired, RateLimited, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, OrgId } from "../../foundation/Ids.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { CountedLimit } from "./CountedLimit.ts"
import { monthOf } from "./Month.ts"
import type { Plan } from "./Plan.ts"
import { type EnvPlan, Plans } from "./Plans.ts"
import { UncountedRuns } from "./UncountedRuns.ts"
import { type RunUsage, UsageStore } from "./UsageStore.ts"

/** Maximum age of the cached usage. */
const ageLimit = "5 seconds"

/** Maximum organizations in the cache of a node. Those without limits are not cached. */
const capacity = 10_000

interface CachedUsage {
  readonly stored: RunUsage
  /**
   * Runs that this node admitted since it read `stored`, and those that were not counted there yet. Those of other nodes
   * count from the next read.
   */
  admitted: number
}

export class Quotas extends Context.Service<
  Quotas,
  {
    /**
     * Checks the quota for `runs` new runs in the environment, and counts them. Fails with `PlanRequired` if the runs of
     * the month, or the bytes for results and logs, are used up. Retries of a run are not counted. A caller without a
     * client to reject, such as a schedule, waits and tries again.
     */
    readonly admit: (envId: EnvId, runs: number) => Effect.Effect<void, PlanRequired | NotFound | StoreUnavailable>
    /**
     * Fails with `PlanRequired` if the environment has as many suspended runs as its plan allows, so that no durable run may
     * start. The count is at most 5 s old.
     */
    readonly admitDurable: (envId: EnvId) => Effect.Effect<void, PlanRequired | NotFound | StoreUnavailable>
    /** Fails with `PlanRequired` if the plan does not allow events of this depth in their chain. */
    readonly admitDepth: (
      envId: EnvId,
      depth: number
    ) => Effect.Effect<void, PlanRequired | NotFound | StoreUnavailable>
    /** True if the environment's plan is cached and allows events of this depth, so that callers need not wait. */
    readonly allowsDepth: (envId: EnvId, depth: number) => boolean
    /**
     * Admits deliveries that will be pending. Fails with `RateLimited` if the environment has as many as the plan allows.
     */
    readonly admitPending: (
      envId: EnvId,
      deliveries: number
    ) => Effect.Effect<void, RateLimited | NotFound | StoreUnavailable>
    /** Admits dynamic schedules. Fails with `PlanRequired` if the environment has as many as the plan allows. */
    readonly admitSchedules: (
      envId: EnvId,
      created: number
    ) => Effect.Effect<void, PlanRequired | NotFound | StoreUnavailable>
    /** As `admitPending`, without an effect. Returns false if callers have to use `admitPending`. */
    readonly allowsPending: (envId: EnvId, deliveries: number) => boolean
    /** True if the environment's plan is cached and has no quotas, so that callers need not count. */
    readonly isUnlimited: (envId: EnvId) => boolean
    /** Runs of this node that are missing in the stored usage. Callers that count or store runs later maintain it. */
    readonly uncounted: UncountedRuns
  }
>()("@weft/core/tenants/orgs/Quotas") {
  static readonly layer: Layer.Layer<Quotas, never, Plans | UsageStore> = Layer.effect(
    Quotas,
    Effect.gen(function* () {
      const plans = yield* Plans
      const store = yield* UsageStore
      const uncounted = new UncountedRuns()
      const figures = yield* Cache.makeWith(
        (orgId: OrgId) =>
          Effect.gen(function* (): Effect.fn.Return<CachedUsage, StoreUnavailable> {
            // Read first: a run that is counted meanwhile may count twice, but is not missing.
            const admitted = uncounted.of(orgId)
            return { stored: yield* store.runs(orgId, monthOf(yield* currentTime)), admitted }
          }),
        { capacity, timeToLive: (exit) => (Exit.isSuccess(exit) ? ageLimit : 0) }
      )

      /** Counts beyond the plan's limit are not needed. */
      const suspended = yield* Cache.makeWith(
        (envId: EnvId) =>
          Effect.flatMap(plans.of(envId), ({ plan }) => store.suspended(envId, Math.max(0, plan.max_suspended_runs))),
        { capacity, timeToLive: (exit) => (Exit.isSuccess(exit) ? ageLimit : 0) }
      )

      const admitDurable = Effect.fnUntraced(function* (envId: EnvId) {
        const { plan } = yield* plans.of(envId)
        if (plan.max_suspended_runs === -1) return
        if ((yield* Cache.get(suspended, envId)) >= plan.max_suspended_runs) return yield* tooManySuspended(plan)
      })

      const admitWithin = ({ org, plan }: EnvPlan, runs: number) =>
        Effect.flatMap(Cache.get(figures, org.org_id), (known) => {
          const reason = exhaustedQuota(plan, known)
          if (reason !== null) return Effect.fail(new PlanRequired({ reason }))
          known.admitted += runs
          return Effect.void
        })

      const pending = new CountedLimit(store.pendingDeliveries, tooManyPending)
      const schedules = new CountedLimit(store.dynamicSchedules, tooManySchedules)

      return Quotas.of({
        uncounted,
        allowsPending: (envId, deliveries) =>
          pending.allows(envId, deliveries) || plans.getCached(envId)?.plan.max_pending_deliveries === -1,
        admitPending: (envId, deliveries) =>
          Effect.flatMap(plans.of(envId), ({ plan: { max_pending_deliveries: limit } }) =>
            pending.admit(envId, deliveries, limit)
          ),
        admitSchedules: (envId, created) =>
          Effect.flatMap(plans.of(envId), ({ plan: { max_schedules: limit } }) =>
            schedules.allows(envId, created) ? Effect.void : schedules.admit(envId, created, limit)
          ),
        isUnlimited: (envId) => {
          const subscription = plans.getCached(envId)
          return subscription !== undefined && isUnlimited(subscription.plan)
        },
        allowsDepth: (envId, depth) => {
          const subscription = plans.getCached(envId)
          return subscription !== undefined && isWithinDepth(subscription.plan, depth)
        },
        admitDurable,
        admitDepth: (envId, depth) =>
          Effect.flatMap(plans.of(envId), ({ plan }) =>
            isWithinDepth(plan, depth) ? Effect.void : Effect.fail(tooDeep(plan))
          ),
        admit: (envId, runs) =>
          Effect.flatMap(plans.of(envId), (subscription) =>
            isUnlimited(subscription.plan) ? Effect.void : admitWithin(subscription, runs)
          )
      })
    })
  )
}

/** Seconds after which a publisher may try again: some deliveries may have run. */
const pendingRetrySeconds = 5

const tooManyPending = (limit: number): RateLimited =>
  new RateLimited({
    retryAfterSeconds: pendingRetrySeconds,
    reason: `The environment has ${limit} pending deliveries, as many as its plan allows (max_pending_deliveries): publish again when some have run, or cancel them`
  })

const tooManySchedules = (limit: number): PlanRequired =>
  new PlanRequired({
    reason: `The plan allows ${limit} schedules that events or functions create, per environment (max_schedules): cancel some first`
  })

const isWithinDepth = ({ max_chain_depth }: Plan, depth: number): boolean =>
  max_chain_depth === -1 || depth <= max_chain_depth

const tooDeep = ({ max_chain_depth }: Plan): PlanRequired =>
  new PlanRequired({
    reason: `The plan allows a chain of ${max_chain_depth} events that cause each other (max_chain_depth), and this event would be the next: end the loop, or use a schedule for a function that repeats itself`
  })

const tooManySuspended = ({ max_suspended_runs }: Plan): PlanRequired =>
  new PlanRequired({
    reason: `The plan allows ${max_suspended_runs} suspended runs in an environment (max_suspended_runs), and so many wait: cancel some, or start durable functions again when some have ended`
  })

const isUnlimited = (plan: Plan): boolean => plan.runs_per_month === -1 && plan.call_storage_bytes === -1

/** Returns a message about the exhausted quota, or null if all have some left. */
const exhaustedQuota = (plan: Plan, { stored, admitted }: CachedUsage): string | null => {
  if (plan.runs_per_month !== -1 && stored.runs_this_period + admitted >= plan.runs_per_month) {
    return `The plan's ${plan.runs_per_month} runs of this month are used up`
  }
  if (plan.call_storage_bytes !== -1 && stored.call_storage_bytes >= plan.call_storage_bytes) {
    return `The plan's ${plan.call_storage_bytes} bytes for results and logs of runs are used up`
  }
  return null
}
