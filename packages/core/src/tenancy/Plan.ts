/** Plans as data (decisions section 4). A host may replace the table. */
import { Schema } from "effect"

export const PlanName = Schema.Literals(["Free", "Starter", "Pro", "Scale", "Enterprise", "Self-Host"])
export type PlanName = typeof PlanName.Type

/** The limits of an organization, across all its environments; integers, of which -1 means unlimited. */
export interface Plan {
  readonly requests_per_second: number
  readonly max_file_bytes: number
  readonly runs_per_month: number
  readonly storage_bytes: number
  readonly team_members: number
  readonly call_retention_days: number
  readonly call_storage_bytes: number
  readonly domains: number
}

/** What a host changes of the table; the rest stays. */
export type PlanOverrides = { readonly [Name in PlanName]?: Partial<Plan> }

/** A plan of the host's has a limit that is no limit. For the person who configured it, at start. */
export class PlanInvalid extends Schema.TaggedError<PlanInvalid>()("PlanInvalid", {
  plan: PlanName,
  limit: Schema.String
}) {
  override get message(): string {
    const least = leastOf(this.limit)
    return `The limit ${this.limit} of the plan ${this.plan} must be an integer, at least ${least}, or -1 for unlimited`
  }
}

/** A rate of nothing would refuse for ever. */
const leastOf = (limit: string): number => (limit === "requests_per_second" ? 1 : 0)

const MiB = 1024 ** 2
const GiB = 1024 ** 3
const TiB = 1024 ** 4

const unlimited: Plan = {
  requests_per_second: -1,
  max_file_bytes: 50 * GiB,
  runs_per_month: -1,
  storage_bytes: -1,
  team_members: -1,
  call_retention_days: -1,
  call_storage_bytes: -1,
  domains: -1
}

export const defaultPlans: Readonly<Record<PlanName, Plan>> = {
  Free: {
    requests_per_second: 5,
    max_file_bytes: 100 * MiB,
    runs_per_month: 10_000,
    storage_bytes: GiB,
    team_members: 1,
    call_retention_days: 7,
    call_storage_bytes: GiB,
    domains: 0
  },
  Starter: {
    requests_per_second: 20,
    max_file_bytes: GiB,
    runs_per_month: 100_000,
    storage_bytes: 10 * GiB,
    team_members: 5,
    call_retention_days: 14,
    call_storage_bytes: 5 * GiB,
    domains: 0
  },
  Pro: {
    requests_per_second: 100,
    max_file_bytes: 5 * GiB,
    runs_per_month: 1_000_000,
    storage_bytes: 100 * GiB,
    team_members: 20,
    call_retention_days: 30,
    call_storage_bytes: 50 * GiB,
    domains: 5
  },
  Scale: {
    requests_per_second: 500,
    max_file_bytes: 50 * GiB,
    runs_per_month: 10_000_000,
    storage_bytes: TiB,
    team_members: 100,
    call_retention_days: 90,
    call_storage_bytes: 500 * GiB,
    domains: 50
  },
  Enterprise: unlimited,
  "Self-Host": unlimited
}

/** The table with the host's changes. */
export const planTable = (overrides: PlanOverrides): Readonly<Record<PlanName, Plan>> => ({
  Free: { ...defaultPlans.Free, ...overrides.Free },
  Starter: { ...defaultPlans.Starter, ...overrides.Starter },
  Pro: { ...defaultPlans.Pro, ...overrides.Pro },
  Scale: { ...defaultPlans.Scale, ...overrides.Scale },
  Enterprise: { ...defaultPlans.Enterprise, ...overrides.Enterprise },
  "Self-Host": { ...defaultPlans["Self-Host"], ...overrides["Self-Host"] }
})

/** The first limit of a table that no plan can have; null when there is none. */
export const firstInvalid = (plans: Readonly<Record<PlanName, Plan>>): PlanInvalid | null => {
  for (const plan of PlanName.literals) {
    for (const [limit, value] of Object.entries(plans[plan])) {
      if (!(Number.isSafeInteger(value) && (value >= leastOf(limit) || value === -1)))
        return new PlanInvalid({ plan, limit })
    }
  }
  return null
}
