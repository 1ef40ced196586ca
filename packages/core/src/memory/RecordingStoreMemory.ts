/** `RecordingStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { StoredRecording } from "../runtime/runs/Recording.ts"
import { RecordingStore } from "../runtime/runs/RecordingStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<RecordingStore, never, MemoryDatabase> = Layer.effect(
  RecordingStore,
  Effect.map(MemoryDatabase, ({ recordings }) => {
    /** Removes the first recordings that match, at most `limit`. */
    const removeSome = (isRemoved: (recording: StoredRecording) => boolean, limit: number) =>
      Effect.sync(() => {
        const found = [...recordings.values()].filter(isRemoved).slice(0, limit)
        for (const { run_id } of found) recordings.delete(run_id)
        return found.length
      })

    return RecordingStore.of({
      save: (rows) =>
        Effect.sync(() => {
          for (const row of rows) recordings.set(row.run_id, row)
        }),

      get: (envId, runId, now) =>
        Effect.suspend(() => {
          const found = recordings.get(runId)
          return found?.env_id === envId && found.expires_at > now ? Effect.succeed(found) : Effect.fail(notFound)
        }),

      list: (envId, page, { project, fn, since, only }, now) =>
        Effect.sync(() => {
          const found = [...recordings.values()].filter(
            (each) =>
              each.env_id === envId &&
              each.expires_at > now &&
              (project === undefined || each.project_id === project || each.project_name === project) &&
              (fn === undefined || (each.ns === fn.ns && each.var === fn.var)) &&
              (since === undefined || each.start_time >= since) &&
              (only === undefined || only.includes(each.project_id) || only.includes(each.project_name))
          )
          const summaries = found
            .sort((a, b) => compareText(b.run_id, a.run_id))
            .map(({ contents: _, ...summary }) => summary)
          return toPage(summaries, page)
        }),

      removeExpired: (now, limit) => removeSome(({ expires_at }) => expires_at <= now, limit),

      purge: (envId, before, limit, of) =>
        removeSome(
          (each) =>
            each.env_id === envId &&
            each.run_id < before &&
            (of === undefined || (each.project_id === of.project_id && each.ns === of.ns && each.var === of.var)),
          limit
        ),

      removeProject: (envId, projectId, limit) =>
        removeSome(({ env_id, project_id }) => env_id === envId && project_id === projectId, limit)
    })
  })
)

const notFound = new NotFound({ resource: "recording" })
