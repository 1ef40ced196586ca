/**
 * Pauses of functions, projects and environments. Pure.
 *
 * A paused function starts no run. Its due deliveries are held: removed from their environment's queue until the pause ends.
 * Deliveries that continue a durable run are never held, so that a run that has begun also ends.
 */
import { Schema } from "effect"
import { Paused } from "../../foundation/Errors.ts"
import { EnvId, PauseId, ProjectId } from "../../foundation/Ids.ts"
import { iso, Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Delivery } from "./Delivery.ts"
import { parkedAt } from "./Group.ts"

/** `due_at` of a delivery that a pause holds, in the year 9999. It is stored, so it must never change. */
export const pausedAt = Timestamp.make(parkedAt + 1)

export const Pause = Schema.Struct({
  pause_id: PauseId,
  env_id: EnvId,
  /** Null for a pause of the environment. */
  project_id: Schema.NullOr(ProjectId),
  /** Name of the project when it was paused. */
  project_name: Schema.NullOr(Schema.String),
  /** Namespace of the function; null for a pause of a project or environment. */
  ns: Schema.NullOr(Schema.String),
  var: Schema.NullOr(Schema.String),
  /** Ticks of schedules during the pause: the latest fires at its end (`late`), or none does (`skip`). */
  schedules: Schema.Literals(["late", "skip"]),
  paused_at: Timestamp,
  /** Type and id of the credential that paused. */
  paused_by: Schema.String,
  /** End of the pause, from which its deliveries are released; null while it lasts. */
  resumed_at: Schema.NullOr(Timestamp),
  /** Latest change. Nodes compare it to find outdated copies. */
  changed_at: Timestamp
})
export type Pause = typeof Pause.Type

/** A function that a pause may cover. Runs that callers start by hand, of the type `run`, are never covered. */
export type PauseTarget = Pick<Delivery, "env_id" | "project_id" | "ns" | "var"> & Partial<Pick<Delivery, "run_type">>

/** Returns the text that identifies what is paused: an environment has one active pause of each. */
export const formatTarget = ({ project_id, ns, var: name }: Pick<Pause, "project_id" | "ns" | "var">): string =>
  `${project_id ?? ""} ${ns ?? ""}/${name ?? ""}`

/** True if the pause lasts and covers the function. */
export const covers = (pause: Pause, { env_id, project_id, ns, var: name, run_type }: PauseTarget): boolean =>
  run_type !== "run" &&
  pause.resumed_at === null &&
  pause.env_id === env_id &&
  (pause.project_id === null || pause.project_id === project_id) &&
  (pause.ns === null || (pause.ns === ns && pause.var === name))

/** Returns the pause that covers the function, of several the narrowest; undefined without one. */
export const findPause = (pauses: ReadonlyArray<Pause>, target: PauseTarget): Pause | undefined => {
  let found: Pause | undefined
  for (const pause of pauses)
    if (covers(pause, target) && (found === undefined || breadth(pause) < breadth(found))) found = pause
  return found
}

const breadth = ({ project_id, ns }: Pause): number => (project_id === null ? 2 : ns === null ? 1 : 0)

/**
 * Returns text that differs after each change of the stored pauses: their number and the sum of their times. The latest time
 * would not do, because the clock of the node that ends a pause may be behind.
 */
export const versionOf = (pauses: ReadonlyArray<Pick<Pause, "changed_at" | "resumed_at">>): string =>
  `${pauses.length}:${pauses.reduce((sum, { changed_at, resumed_at }) => sum + changed_at + (resumed_at ?? 0), 0)}`

/** Returns the name of what is paused, for people. */
export const describePause = ({ project_name, ns, var: name }: Pause): string => {
  if (project_name === null) return "environment"
  return ns === null ? `project ${project_name}` : `function ${project_name}:${ns}/${name}`
}

/** Returns the error for a call that the pause refuses. */
export const pausedError = (pause: Pause): Paused =>
  new Paused({
    reason: `The ${describePause(pause)} has been paused since ${iso(pause.paused_at)}: call again when it is resumed`
  })
