/** Shows and ends the canaries of projects for callers. Checks permission first. */
import { Context, Effect, Layer } from "effect"
import { type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Canary } from "../../resources/builds/Canary.ts"
import { failureShare, p95, type SideCounts, windowEnd } from "../../resources/builds/CanaryCounts.ts"
import { CanaryStore } from "../../resources/builds/CanaryStore.ts"
import { ProjectStore } from "../../resources/projects/ProjectStore.ts"
import { resolveProject } from "../../resources/projects/resolveProject.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import { CanaryEnds } from "./CanaryEnds.ts"

/** Ended runs of one side. */
export interface CanarySide {
  readonly runs: number
  readonly failures: number
  readonly failure_share: number
  /** 95th percentile of the durations in milliseconds; null without runs. */
  readonly p95_ms: number | null
}

/** A canary with what all nodes counted, as of about one second ago. */
export interface CanaryStatus extends Canary {
  readonly window_ends_at: Timestamp
  readonly counts: { readonly canary: CanarySide; readonly base: CanarySide }
}

type CanaryError = Forbidden | NotFound | StoreUnavailable

export class Canaries extends Context.Service<
  Canaries,
  {
    /** Returns the latest canary of the project, active or ended. Requires `build: read`. */
    readonly get: (project: string) => Effect.Effect<CanaryStatus, CanaryError, Caller>
    /** Makes the active canary the deployed build, whatever its rules say. Requires `build: execute`. */
    readonly promote: (project: string) => Effect.Effect<CanaryStatus, CanaryError, Caller>
    /**
     * Ends the active canary: it starts no more runs, and its retries continue on the deployed build if that has their
     * function. Requires `build: execute`.
     */
    readonly rollback: (project: string) => Effect.Effect<CanaryStatus, CanaryError, Caller>
  }
>()("@weft/core/runtime/control/Canaries") {
  static readonly layer = Layer.effect(
    Canaries,
    Effect.gen(function* () {
      const store = yield* CanaryStore
      const projects = yield* ProjectStore
      const ends = yield* CanaryEnds

      const find = Effect.fnUntraced(function* (idOrName: string, action: "read" | "execute") {
        const { project } = yield* resolveProject(projects, idOrName, "build", action)
        return yield* store.latest(project.env_id, project.project_id)
      })

      const withCounts = Effect.fnUntraced(function* (canary: Canary) {
        const counts = yield* store.counts(canary)
        return {
          ...canary,
          window_ends_at: windowEnd(canary),
          counts: { canary: toSide(counts.canary), base: toSide(counts.base) }
        } satisfies CanaryStatus
      })

      const end = Effect.fnUntraced(function* (project: string, state: "promoted" | "rolled_back", reason: string) {
        const canary = yield* find(project, "execute")
        if (canary.state !== "active") return yield* noActive
        const ended = Effect.catchTag(ends.end(canary, { state, reason }), "NotFound", () => Effect.fail(noActive))
        return yield* withCounts(yield* ended)
      })

      return Canaries.of({
        get: (project) => Effect.flatMap(find(project, "read"), withCounts),
        promote: (project) => end(project, "promoted", "Promoted by hand"),
        rollback: (project) => end(project, "rolled_back", "Rolled back by hand")
      })
    })
  )
}

const noActive = new NotFound({ resource: "active canary" })

const toSide = (side: SideCounts): CanarySide => {
  const percentile = p95(side)
  return {
    runs: side.runs,
    failures: side.failures,
    failure_share: failureShare(side),
    p95_ms: percentile === null ? null : Math.round(percentile)
  }
}
