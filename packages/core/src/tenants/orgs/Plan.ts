/** The table of plans (decisions section 4). A host may override limits. */
import { Schema } from "effect"
import { RecordMode } from "./RecordMode.ts"

export const PlanName = Schema.Literals(["Free", "Starter", "Pro", "Scale", "Enterprise", "Self-Host"])
export type PlanName = typeof PlanName.Type

/** Limits of an organization across all its environments: integers, -1 for unlimited, and the weakest mode of record. */
export interface Plan {
  readonly requests_per_second: number
  /** Calls of functions to the host, such as `svc.events.publish` and `fetch`. Each node counts its own. */
  readonly host_calls_per_second: number
  /** Maximum open TCP sockets of one run. 0: functions open none. `fetch` and WebSockets do not count. */
  readonly tcp_sockets_per_run: number
  readonly max_file_bytes: number
  readonly runs_per_month: number
  readonly storage_bytes: number
  readonly team_members: number
  readonly call_retention_days: number
  readonly call_storage_bytes: number
  readonly domains: number
  /**
   * Maximum depth of a chain of events. An event from outside has depth 0. An event that a run publishes is one deeper than
   * that of the run.
   */
  readonly max_chain_depth: number
  /** Maximum recorded results of a durable run. */
  readonly max_steps_per_run: number
  /** Maximum result of a step of a durable run, as UTF-8 bytes of JSON text. Values above 256 KiB have no effect. */
  readonly max_step_result_bytes: number
  /** Maximum suspended runs of one environment. More durable runs do not start. */
  readonly max_suspended_runs: number
  /**
   * Maximum deliveries of an environment that wait for a run, including delayed ones, retries and suspended durable runs.
   * Beyond it, new events with handlers are refused.
   */
  readonly max_pending_deliveries: number
  /** Maximum schedules of an environment that events or functions created. */
  readonly max_schedules: number
  /** Maximum UTF-8 bytes of a source that clients may run without a build; 0 for none. Values above 1 MiB have no effect. */
  readonly max_eval_source_bytes: number
  /** Maximum open REPL sessions of an environment; 0 for none. Each node counts its own. */
  readonly max_repl_sessions: number
  /** Maximum alert rules of an environment. */
  readonly max_alert_rules: number
  /** Maximum previews of an environment. */
  readonly max_previews: number
  /** Weakest record of webhooks and tools. A function with a weaker one gets this one. */
  readonly weakest_record: RecordMode
}

/** Limits of the host that override those of the default table. */
export type PlanOverrides = { readonly [Name in PlanName]?: Partial<Plan> }

/** Fails the start: the host configured a limit with an invalid value. */
export class PlanInvalid extends Schema.TaggedError<PlanInvalid>()("PlanInvalid", {
  plan: PlanName,
  limit: Schema.String
}) {
  override get message(): string {
    if (this.limit === "weakest_record") {
      return `The limit weakest_record of the plan ${this.plan} must be one of ${RecordMode.literals.join(", ")}`
    }
    const least = minimumFor(this.limit)
    return `The limit ${this.limit} of the plan ${this.plan} must be an integer, at least ${least}, or -1 for unlimited`
  }
}

/** At least 1 per second: a rate of 0 would reject every request, and each host call would wait forever. */
const minimumFor = (limit: string): number => (limit.endsWith("_per_second") ? 1 : 0)

const KiB = 1024
const MiB = 1024 ** 2
const GiB = 1024 ** 3
const TiB = 1024 ** 4

const unlimited: Plan = {
  requests_per_second: -1,
  host_calls_per_second: -1,
  tcp_sockets_per_run: 0,
  max_file_bytes: 50 * GiB,
  runs_per_month: -1,
  storage_bytes: -1,
  team_members: -1,
  call_retention_days: -1,
  call_storage_bytes: -1,
  domains: -1,
  max_chain_depth: 1_000,
  max_steps_per_run: 10_000,
  max_step_result_bytes: 256 * KiB,
  max_suspended_runs: -1,
  max_pending_deliveries: 1_000_000,
  max_schedules: 100_000,
  max_eval_source_bytes: MiB,
  max_repl_sessions: 100,
  max_alert_rules: 1_000,
  max_previews: 1_000,
  weakest_record: "none"
}

export const defaultPlans: Readonly<Record<PlanName, Plan>> = {
  Free: {
    requests_per_second: 5,
    host_calls_per_second: 200,
    tcp_sockets_per_run: 0,
    max_file_bytes: 100 * MiB,
    runs_per_month: 10_000,
    storage_bytes: GiB,
    team_members: 1,
    call_retention_days: 7,
    call_storage_bytes: GiB,
    domains: 0,
    max_chain_depth: 100,
    max_steps_per_run: 10_000,
    max_step_result_bytes: 256 * KiB,
    max_suspended_runs: 100_000,
    max_pending_deliveries: 10_000,
    max_schedules: 1_000,
    max_eval_source_bytes: 0,
    max_repl_sessions: 0,
    max_alert_rules: 5,
    max_previews: 1,
    weakest_record: "none"
  },
  Starter: {
    requests_per_second: 20,
    host_calls_per_second: 1_000,
    tcp_sockets_per_run: 0,
    max_file_bytes: GiB,
    runs_per_month: 100_000,
    storage_bytes: 10 * GiB,
    team_members: 5,
    call_retention_days: 14,
    call_storage_bytes: 5 * GiB,
    domains: 0,
    max_chain_depth: 100,
    max_steps_per_run: 10_000,
    max_step_result_bytes: 256 * KiB,
    max_suspended_runs: 100_000,
    max_pending_deliveries: 100_000,
    max_schedules: 10_000,
    max_eval_source_bytes: 64 * KiB,
    max_repl_sessions: 2,
    max_alert_rules: 20,
    max_previews: 5,
    weakest_record: "none"
  },
  Pro: {
    requests_per_second: 100,
    host_calls_per_second: 5_000,
    tcp_sockets_per_run: 0,
    max_file_bytes: 5 * GiB,
    runs_per_month: 1_000_000,
    storage_bytes: 100 * GiB,
    team_members: 20,
    call_retention_days: 30,
    call_storage_bytes: 50 * GiB,
    domains: 5,
    max_chain_depth: 100,
    max_steps_per_run: 10_000,
    max_step_result_bytes: 256 * KiB,
    max_suspended_runs: 100_000,
    max_pending_deliveries: 250_000,
    max_schedules: 25_000,
    max_eval_source_bytes: 256 * KiB,
    max_repl_sessions: 10,
    max_alert_rules: 100,
    max_previews: 20,
    weakest_record: "none"
  },
  Scale: {
    requests_per_second: 500,
    host_calls_per_second: 20_000,
    tcp_sockets_per_run: 0,
    max_file_bytes: 50 * GiB,
    runs_per_month: 10_000_000,
    storage_bytes: TiB,
    team_members: 100,
    call_retention_days: 90,
    call_storage_bytes: 500 * GiB,
    domains: 50,
    max_chain_depth: 100,
    max_steps_per_run: 10_000,
    max_step_result_bytes: 256 * KiB,
    max_suspended_runs: 100_000,
    max_pending_deliveries: 1_000_000,
    max_schedules: 100_000,
    max_eval_source_bytes: 256 * KiB,
    max_repl_sessions: 20,
    max_alert_rules: 500,
    max_previews: 100,
    weakest_record: "none"
  },
  Enterprise: unlimited,
  "Self-Host": unlimited
}

/** Returns the default table with the host's overrides. */
export const planTable = (overrides: PlanOverrides): Readonly<Record<PlanName, Plan>> => ({
  Free: { ...defaultPlans.Free, ...overrides.Free },
  Starter: { ...defaultPlans.Starter, ...overrides.Starter },
  Pro: { ...defaultPlans.Pro, ...overrides.Pro },
  Scale: { ...defaultPlans.Scale, ...overrides.Scale },
  Enterprise: { ...defaultPlans.Enterprise, ...overrides.Enterprise },
  "Self-Host": { ...defaultPlans["Self-Host"], ...overrides["Self-Host"] }
})

/** Returns an error for the first invalid limit of a table, or null if all are valid. */
export const firstInvalid = (plans: Readonly<Record<PlanName, Plan>>): PlanInvalid | null => {
  for (const plan of PlanName.literals) {
    for (const [limit, value] of Object.entries(plans[plan])) {
      if (!isValid(limit, value)) return new PlanInvalid({ plan, limit })
    }
  }
  return null
}

const isValid = (limit: string, value: number | string): boolean =>
  limit === "weakest_record"
    ? Schema.is(RecordMode)(value)
    : Number.isSafeInteger(value) && (Number(value) >= minimumFor(limit) || value === -1)
