/** Seam for the recordings of runs. Methods for callers do not return expired recordings. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, ProjectId, RunId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { RecordingSummary, StoredRecording } from "./Recording.ts"
import type { Run } from "./Run.ts"

export interface RecordingFilter {
  /** Only recordings of the project with this id, or this name at that time. */
  readonly project?: string
  /** Only recordings of this function. */
  readonly fn?: Pick<Run, "ns" | "var">
  /** Only recordings of runs that started at or after this instant. */
  readonly since?: Timestamp
  /** Only recordings of projects with one of these ids, or names at that time. */
  readonly only?: ReadonlyArray<string>
}

export class RecordingStore extends Context.Service<
  RecordingStore,
  {
    /** Stores recordings. Replaces those of the same runs. */
    readonly save: (recordings: ReadonlyArray<StoredRecording>) => Effect.Effect<void, StoreUnavailable>
    readonly get: (
      envId: EnvId,
      runId: RunId,
      now: Timestamp
    ) => Effect.Effect<StoredRecording, NotFound | StoreUnavailable>
    /** Lists recordings without their contents, those of the newest runs first. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      filter: RecordingFilter,
      now: Timestamp
    ) => Effect.Effect<Page<RecordingSummary>, StoreUnavailable>
    /** Removes recordings of all environments that expired before `now`, at most `limit`. Returns their number. */
    readonly removeExpired: (now: Timestamp, limit: number) => Effect.Effect<number, StoreUnavailable>
    /** Removes recordings of runs with smaller ids, at most `limit`; `of` selects a function. Returns their number. */
    readonly purge: (
      envId: EnvId,
      before: RunId,
      limit: number,
      of?: Pick<Run, "project_id" | "ns" | "var">
    ) => Effect.Effect<number, StoreUnavailable>
    /** Removes recordings of a project, at most `limit`. Returns their number. */
    readonly removeProject: (
      envId: EnvId,
      projectId: ProjectId,
      limit: number
    ) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/RecordingStore") {}
