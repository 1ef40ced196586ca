/** `RunControlStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { EnvId } from "../ids/Ids.ts"
import { cancelRun } from "../runs/Attempt.ts"
import type { Run } from "../runs/Run.ts"
import { RunControlStore, type RunSelection } from "../runs/RunControlStore.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<RunControlStore, never, MemoryDatabase> = Layer.effect(
  RunControlStore,
  Effect.gen(function* () {
    const { runs, logs, deliveries } = yield* MemoryDatabase

    /** The delivery that the run holds is gone; the key of its group. */
    const letGo = ({ run_id }: Run): string | null => {
      const held = [...deliveries.values()].find((row) => row.run_id === run_id)
      if (held === undefined) return null
      deliveries.delete(held.delivery.delivery_id)
      return held.delivery.group?.key ?? null
    }

    return RunControlStore.of({
      cancel: (envId, which, at, limit) =>
        Effect.sync(() =>
          [...runs.values()]
            .filter((run) => run.status === "running" && isSelected(run, envId, which))
            .sort((a, b) => compareText(a.run_id, b.run_id))
            .slice(0, limit)
            .map((running) => {
              const run = cancelRun(running, at)
              runs.set(run.run_id, run)
              return { run, group: letGo(run) }
            })
        ),

      log: (written) =>
        Effect.sync(() =>
          written.map(({ env_id, run_id, entries }) => {
            const run = runs.get(run_id)
            if (run === undefined || run.env_id !== env_id) return null
            if (run.status === "running" || run.status === "cancelled") logs.set(run_id, entries)
            return run.status
          })
        ),

      ended: (asked) =>
        Effect.sync(() =>
          asked
            .filter(({ env_id, run_id }) => {
              const run = runs.get(run_id)
              return run?.env_id === env_id && run.status !== "running"
            })
            .map((run) => run.run_id)
        ),

      redeliver: (delivery) => Effect.sync(() => void deliveries.set(delivery.delivery_id, { delivery, run_id: null }))
    })
  })
)

const isSelected = (run: Run, envId: EnvId, which: RunSelection): boolean => {
  const { runId, type, since, until, eventId, functions } = which
  const name = `${run.ns}/${run.var}`
  return (
    run.env_id === envId &&
    (runId === undefined || run.run_id === runId) &&
    (type === undefined || run.run_type === type) &&
    (since === undefined || run.start_time >= since) &&
    (until === undefined || run.start_time <= until) &&
    (eventId === undefined || run.event_id === eventId) &&
    (functions === undefined || functions.includes(name) || functions.includes(`${run.project_name}:${name}`))
  )
}
