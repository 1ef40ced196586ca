/** `DeadLetterStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { EnvId, RunId } from "../foundation/Ids.ts"
import { utf8Length } from "../foundation/Utf8.ts"
import {
  type DeadLetter,
  type DeadLetterFilter,
  type DeadLetterPosition,
  DeadLetterStore,
  listedResultMax
} from "../runtime/runs/DeadLetterStore.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<DeadLetterStore, never, MemoryDatabase> = Layer.effect(
  DeadLetterStore,
  Effect.map(MemoryDatabase, (db) => {
    /** Removes marks, and returns those of the runs that had one. */
    const unmark = (envId: EnvId, runIds: ReadonlyArray<RunId>): ReadonlyArray<RunId> =>
      runIds.filter((id) => db.runs.get(id)?.env_id === envId && db.deadLetters.delete(id))

    return DeadLetterStore.of({
      list: (envId, { limit, offset }, filter) =>
        Effect.sync(() => [...select(db, envId, filter)].reverse().slice(offset, offset + limit)),

      count: (envId, filter, limit) => Effect.sync(() => Math.min(select(db, envId, filter).length, limit)),

      after: (envId, filter, position, limit) =>
        Effect.sync(() =>
          select(db, envId, filter)
            .filter((letter) => position === null || comparePositions(letter, position) > 0)
            .slice(0, limit)
            .map(toRef)
        ),

      redrive: (envId, redrives) =>
        Effect.sync(() =>
          redrives.flatMap(({ runId, delivery }) => {
            const unmarked = unmark(envId, [runId])
            if (unmarked.length > 0) db.deliveries.set(delivery.delivery_id, { delivery, run_id: null })
            return unmarked
          })
        ),

      discard: (envId, runIds) => Effect.sync(() => unmark(envId, runIds))
    })
  })
)

type Database = MemoryDatabase["Service"]

const select = (db: Database, envId: EnvId, filter: DeadLetterFilter): ReadonlyArray<DeadLetter> =>
  [...db.deadLetters]
    .flatMap(([runId, dead_since]): ReadonlyArray<DeadLetter> => {
      const run = db.runs.get(runId)
      if (run?.env_id !== envId) return []
      const event_type = (run.event_id === null ? undefined : db.events.get(run.event_id)?.event_type) ?? ""
      const { stream_id, status, start_time, attempt } = run
      const result = utf8Length(run.result ?? "") > listedResultMax ? null : run.result
      return [{ ...toRef({ ...run, dead_since }), stream_id, status, start_time, attempt, result, event_type }]
    })
    .filter((letter) => isSelected(letter, filter))
    .sort(comparePositions)

const toRef = (letter: Omit<DeadLetter, "event_type">) => {
  const { env_id, run_id, event_id, event_ids, project_id, project_name, build_id } = letter
  const { ns, run_type, activations, dead_since } = letter
  return {
    ...{ env_id, run_id, event_id, event_ids, project_id, project_name, build_id, ns, var: letter.var },
    ...{ run_type, activations, dead_since }
  }
}

const comparePositions = (a: DeadLetterPosition, b: DeadLetterPosition): number =>
  a.dead_since - b.dead_since || compareText(a.run_id, b.run_id)

const isSelected = (letter: DeadLetter, filter: DeadLetterFilter): boolean => {
  const { only, project, functions = [], eventType, since, until, runIds } = filter
  const name = `${letter.ns}/${letter.var}`
  const isOf = (idOrName: string) => idOrName === letter.project_id || idOrName === letter.project_name
  return (
    (only === undefined || only.some(isOf)) &&
    (project === undefined || isOf(project)) &&
    functions.every((list) => list.includes(name) || list.includes(`${letter.project_name}:${name}`)) &&
    (eventType === undefined || letter.event_type === eventType) &&
    (since === undefined || letter.dead_since >= since) &&
    (until === undefined || letter.dead_since < until) &&
    (runIds === undefined || runIds.includes(letter.run_id))
  )
}
