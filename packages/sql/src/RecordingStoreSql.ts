/** `RecordingStore` on SQL. */
import { type EnvId, NotFound } from "@weft/core"
import {
  keyIdOf,
  type RecordingFilter,
  RecordingStore,
  RecordingSummary,
  StoredRecording,
  type Timestamp
} from "@weft/core/adapter"
import { Effect, Layer, Struct } from "effect"
import type { Statement } from "effect/sql"
import { batched } from "./Batch.ts"
import { Database, onlyRow, orUnavailable, readCount, repeatConflicts } from "./Database.ts"
import { deriveColumns } from "./rows/Columns.ts"
import { makeRow } from "./rows/Row.ts"

const columns = Struct.keys(StoredRecording.fields).join(", ")
const row = makeRow({ ...deriveColumns(StoredRecording.fields), key_id: "text" })
const summaryColumns = Struct.keys(RecordingSummary.fields).join(", ")

export const layer: Layer.Layer<RecordingStore, never, Database> = Layer.effect(
  RecordingStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database

    const replaced = row.names
      .filter((name) => name !== "env_id" && name !== "run_id")
      .map((name) => `${name} = excluded.${name}`)
    const insert = batched(writer, dialect, {
      row,
      text: (rows) => `INSERT INTO run_recordings (${row.list}) ${rows}
        ON CONFLICT (env_id, run_id) DO UPDATE SET ${replaced.join(", ")}`
    })

    const condition = (
      envId: EnvId,
      { project, fn, since, only }: RecordingFilter,
      now: Timestamp
    ): Statement.Fragment => {
      const terms: Array<Statement.Fragment> = [reader`env_id = ${envId} AND expires_at > ${now}`]
      if (project !== undefined) terms.push(reader`(project_id = ${project} OR project_name = ${project})`)
      if (fn !== undefined) terms.push(reader`var = ${fn.var} AND ns = ${fn.ns}`)
      if (since !== undefined) terms.push(reader`start_time >= ${since}`)
      if (only !== undefined) {
        const among = dialect.among(reader, only)
        terms.push(reader`(project_id ${among} OR project_name ${among})`)
      }
      return reader.and(terms)
    }

    return RecordingStore.of({
      save: (recordings) =>
        repeatConflicts(writer.withTransaction(insert.run(row.encode(recordings.map(toRow))))).pipe(
          Effect.asVoid,
          orUnavailable("save")
        ),

      get: (envId, runId, now) =>
        onlyRow(
          reader<StoredRecording>`SELECT ${reader.literal(columns)} FROM run_recordings
            WHERE env_id = ${envId} AND run_id = ${runId} AND expires_at > ${now}`,
          notFound
        ).pipe(orUnavailable("get")),

      list: (envId, { limit, offset }, filter, now) => {
        const where = condition(envId, filter, now)
        return Effect.all({
          items: reader<RecordingSummary>`SELECT ${reader.literal(summaryColumns)} FROM run_recordings
            WHERE ${where} ORDER BY run_id DESC LIMIT ${limit} OFFSET ${offset}`,
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM run_recordings WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      },

      removeExpired: (now, limit) =>
        Effect.map(
          writer`DELETE FROM run_recordings WHERE (env_id, run_id) IN (
            SELECT env_id, run_id FROM run_recordings WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${limit}
          )`.raw,
          dialect.changes
        ).pipe(orUnavailable("removeExpired")),

      purge: (envId, before, limit, of) => {
        const ofFunction =
          of === undefined
            ? writer.literal("")
            : writer` AND project_id = ${of.project_id} AND var = ${of.var} AND ns = ${of.ns}`
        return Effect.map(
          writer`DELETE FROM run_recordings WHERE env_id = ${envId} AND run_id IN (
            SELECT run_id FROM run_recordings WHERE env_id = ${envId} AND run_id < ${before}${ofFunction}
            ORDER BY run_id LIMIT ${limit}
          )`.raw,
          dialect.changes
        ).pipe(orUnavailable("purge"))
      },

      removeProject: (envId, projectId, limit) =>
        Effect.map(
          writer`DELETE FROM run_recordings WHERE env_id = ${envId} AND run_id IN (
            SELECT run_id FROM run_recordings WHERE env_id = ${envId} AND project_id = ${projectId} LIMIT ${limit}
          )`.raw,
          dialect.changes
        ).pipe(orUnavailable("removeProject"))
    })
  })
)

const toRow = (recording: StoredRecording) => ({ ...recording, key_id: keyIdOf(recording.contents) })

const notFound = new NotFound({ resource: "recording" })
