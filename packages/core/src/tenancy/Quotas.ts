/** What a plan allows in all: runs in a month, and room for their results and logs (decisions section 4). */
import { Cache, Context, Effect, Exit, Layer } from "effect"
import { type NotFound, PlanRequired, type StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId, OrgId } from "../ids/Ids.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import { monthOf } from "./Month.ts"
import type { Plan } from "./Plan.ts"
import { Plans, type Subscription } from "./Plans.ts"
import { type RunUsage, UsageStore } from "./UsageStore.ts"

/** How old the stored figures may be that decide. */
const ageLimit = "5 seconds"

/** Organizations with limits whose figures a node remembers. */
const capacity = 10_000

interface Figures {
  readonly stored: RunUsage
  /** Runs that this node let begin since. Other nodes may have let begin more: they are seen with the next figures. */
  admitted: number
}

export class Quotas extends Context.Service<
  Quotas,
  {
    /**
     * Asks whether `runs` new ones may begin in the environment, and counts them. `PlanRequired` once the plan's runs of
     * the month, or its bytes of results and logs, are used up. Attempts after the first are not asked for. Whoever
     * cannot refuse anybody, as a schedule, waits and asks again.
     */
    readonly admit: (envId: EnvId, runs: number) => Effect.Effect<void, PlanRequired | NotFound | StoreUnavailable>
    /** Whether it is at hand that the plan refuses nothing, so that nothing need be counted. */
    readonly isUnlimited: (envId: EnvId) => boolean
  }
>()("@weft/core/tenancy/Quotas") {
  static readonly layer: Layer.Layer<Quotas, never, Plans | UsageStore> = Layer.effect(
    Quotas,
    Effect.gen(function* () {
      const plans = yield* Plans
      const store = yield* UsageStore
      const figures = yield* Cache.makeWith(
        (orgId: OrgId) =>
          Effect.gen(function* (): Effect.fn.Return<Figures, StoreUnavailable> {
            return { stored: yield* store.runs(orgId, monthOf(yield* currentTime)), admitted: 0 }
          }),
        { capacity, timeToLive: (exit) => (Exit.isSuccess(exit) ? ageLimit : 0) }
      )

      const admitWithin = ({ org, plan }: Subscription, runs: number) =>
        Effect.flatMap(Cache.get(figures, org.org_id), (known) => {
          const reason = usedUp(plan, known)
          if (reason !== null) return Effect.fail(new PlanRequired({ reason }))
          known.admitted += runs
          return Effect.void
        })

      return Quotas.of({
        isUnlimited: (envId) => {
          const subscription = plans.peek(envId)
          return subscription !== undefined && isUnlimited(subscription.plan)
        },
        admit: (envId, runs) =>
          Effect.flatMap(plans.of(envId), (subscription) =>
            isUnlimited(subscription.plan) ? Effect.void : admitWithin(subscription, runs)
          )
      })
    })
  )
}

const isUnlimited = (plan: Plan): boolean => plan.runs_per_month === -1 && plan.call_storage_bytes === -1

/** What is used up, for the person who pays; null while there is some left. */
const usedUp = (plan: Plan, { stored, admitted }: Figures): string | null => {
  if (plan.runs_per_month !== -1 && stored.runs_this_period + admitted >= plan.runs_per_month) {
    return `The plan's ${plan.runs_per_month} runs of this month are used up`
  }
  if (plan.call_storage_bytes !== -1 && stored.call_storage_bytes >= plan.call_storage_bytes) {
    return `The plan's ${plan.call_storage_bytes} bytes for results and logs of runs are used up`
  }
  return null
}
