/** Functions that run on a schedule. */
import type { AnyEvents, Catalogue } from "./Event.ts"
import type { StartTerms } from "./FlowControl.ts"
import { type Concurrency, type Cron, type FailureTerms, type RecordingTerms, type Terms, withMeta } from "./Meta.ts"
import type { ScheduleSvc } from "./Svc.ts"
import type { Tick } from "./Tick.ts"

export interface ScheduleOptions extends Terms, StartTerms, FailureTerms, RecordingTerms {
  /** A cron expression of five fields, or six with seconds first; or a list of them. */
  readonly cron: string | ReadonlyArray<string>
  /** For example `Europe/Oslo`; UTC by default. */
  readonly timezone?: string
  /** `limit: 1` prevents overlapping runs. */
  readonly concurrency?: Pick<Concurrency, "limit" | "name">
}

export interface ScheduleMeta extends Terms, StartTerms, FailureTerms, RecordingTerms {
  readonly schedule: ReadonlyArray<Cron>
  readonly concurrency?: Concurrency
}

export interface Scheduled<Result, Events extends Catalogue = AnyEvents> {
  (tick: Tick, svc: ScheduleSvc<Events>): Promise<Result>
  readonly meta: ScheduleMeta
}

export type Schedules<Events extends Catalogue = AnyEvents> = <Result>(
  on: string | ReadonlyArray<string> | ScheduleOptions,
  fn: (tick: Tick, svc: ScheduleSvc<Events>) => Result | Promise<Result>
) => Scheduled<Result, Events>

/**
 * Defines a function that runs on a schedule:
 *
 *     export const nightly = schedule({ cron: "0 3 * * *", timezone: "Europe/Oslo" }, (tick, svc) => …)
 */
export const schedule: Schedules = <Result>(
  on: string | ReadonlyArray<string> | ScheduleOptions,
  fn: (tick: Tick, svc: ScheduleSvc) => Result | Promise<Result>
) => {
  const { cron, timezone, ...terms }: ScheduleOptions = typeof on === "object" && "cron" in on ? on : { cron: on }
  const schedules = [cron].flat().map((one) => (timezone === undefined ? { cron: one } : { cron: one, timezone }))
  const run = async (tick: Tick, svc: ScheduleSvc): Promise<Result> => fn(tick, svc)
  return withMeta(run, { schedule: schedules, ...terms })
}
