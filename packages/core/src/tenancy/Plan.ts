/** Plans as data (decisions section 4). A host may replace the table. */
import { Schema } from "effect"

export const PlanName = Schema.Literals(["Free", "Starter", "Pro", "Scale", "Enterprise", "Self-Host"])
export type PlanName = typeof PlanName.Type

/** The limits of an organization, across all its environments; -1 means unlimited. */
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
