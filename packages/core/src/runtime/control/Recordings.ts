/** Reads the recordings of runs for callers. Checks permission first, and records each read in the audit log. */
import { Context, type Duration, Effect, Layer, Schema } from "effect"
import { type BadRequest, type Forbidden, NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import { idReader, RunId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import { makeEntries } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { type Caller, type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import { RecordingContents, type RecordingSummary, type RunRecording, recordingPlace } from "../runs/Recording.ts"
import { RecordingStore } from "../runs/RecordingStore.ts"
import { toRunFilter } from "./RunQuery.ts"

/** Selects recordings; all of them without any field. */
export interface RecordingQuery {
  /** Id of a project, or its name when the run started. */
  readonly project?: string
  /** A function: `ns/var`, or `project:ns/var`. */
  readonly fn?: string
  /** Only recordings of runs that started within this time before now. */
  readonly within?: Duration.Duration
}

type ReadError = Forbidden | StoreUnavailable

export class Recordings extends Context.Service<
  Recordings,
  {
    /**
     * Lists recordings without their contents, those of the newest runs first. Requires `recording: read`. A credential for
     * some projects sees only their recordings.
     */
    readonly list: (
      page: PageRequest,
      query: RecordingQuery
    ) => Effect.Effect<Page<RecordingSummary>, ReadError | BadRequest, Caller>
    /** Returns the recording of a run. Requires `recording: read`, and adds an entry to the audit log. */
    readonly get: (runId: string) => Effect.Effect<RunRecording, ReadError | NotFound, Caller>
  }
>()("@weft/core/runtime/control/Recordings") {
  static readonly layer = Layer.effect(
    Recordings,
    Effect.gen(function* () {
      const store = yield* RecordingStore
      const keyring = yield* Keyring
      const audit = yield* AuditStore
      const entries = yield* makeEntries

      return Recordings.of({
        list: Effect.fnUntraced(function* (page, query) {
          const caller = yield* requirePermission("recording", [], "read")
          const now = yield* currentTime
          const filter = yield* toRunFilter(query, now)
          return yield* store.list(caller.env_id, page, { ...filter, ...toProjectFilter(caller) }, now)
        }),

        get: Effect.fnUntraced(function* (text) {
          const caller = yield* requirePermission("recording", [], "read")
          const runId = readRunId(text)
          if (runId === null) return yield* notFound
          const { contents, ...summary } = yield* store.get(caller.env_id, runId, yield* currentTime)
          const { only } = toProjectFilter(caller)
          if (only !== undefined && !only.includes(summary.project_id) && !only.includes(summary.project_name)) {
            return yield* notFound
          }
          const opened = yield* keyring.open(contents, recordingPlace(summary)).pipe(
            Effect.tapError((error) => Effect.logError("A recording cannot be decrypted:", error.message)),
            Effect.mapError((cause) => new StoreUnavailable({ operation: `recording of run ${runId}`, cause }))
          )
          const toEntry = yield* entries
          const object_name = `${summary.project_name}:${summary.ns}/${summary.var}`
          yield* audit.append([toEntry({ action: "recording.read", object_id: runId, object_name })])
          return { ...summary, ...(yield* Effect.orDie(decodeContents(opened))) }
        })
      })
    })
  )
}

const notFound = new NotFound({ resource: "recording" })

const readRunId = idReader(RunId)

const decodeContents = Schema.decodeEffect(Schema.fromJsonString(RecordingContents))

const toProjectFilter = (caller: Identity): { readonly only?: ReadonlyArray<string> } => {
  const projects = readable(caller.permissions, "recording", "read")
  return projects === "all" ? {} : { only: projects }
}
