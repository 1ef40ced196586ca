/** Cancellation of runs in memory. */
import type { EnvId, EventId, RunId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import type { Event } from "../runtime/events/Event.ts"
import { cancelledMax, type Replaced } from "../runtime/runs/AdmissionStore.ts"
import { cancelledByMessage, cancelRun, replacedMessage } from "../runtime/runs/Attempt.ts"
import type { Delivery } from "../runtime/runs/Delivery.ts"
import type { Run } from "../runtime/runs/Run.ts"
import type { CancelledRun, RunSelection } from "../runtime/runs/RunControlStore.ts"
import type { History } from "../runtime/runs/Workflow.ts"
import { compareText, type MemoryDatabase } from "./MemoryDatabase.ts"

type Database = MemoryDatabase["Service"]

/** Ends the selected running runs, at most `limit`, and removes their deliveries. */
export const cancelSelected = (
  db: Database,
  envId: EnvId,
  which: RunSelection,
  at: Timestamp,
  limit: number,
  message?: string
): ReadonlyArray<CancelledRun> =>
  [...db.runs.values()]
    .filter((run) => run.status === "running" && isSelected(run, envId, which))
    .sort((a, b) => compareText(a.run_id, b.run_id))
    .slice(0, limit)
    .map((running) => {
      const run = cancelRun(running, at, message)
      db.runs.set(run.run_id, run)
      const children = findChildren(db.histories.get(run.run_id))
      endWaits(db, run.run_id)
      const held = findHeld(db, run)
      if (held !== undefined) db.deliveries.delete(held.delivery_id)
      return { run, group: held?.group?.key ?? null, children }
    })

/** Ends all pending and running deliveries of a group. */
export const replaceGroup = (db: Database, { env_id, group }: Delivery, now: Timestamp): Replaced => {
  if (group === null) return { runs: [], events: [] }
  const isMember = (delivery: Delivery) => delivery.env_id === env_id && delivery.group?.key === group.key
  const held = [...db.deliveries.values()].filter(({ delivery }) => isMember(delivery))
  const runIds = held.flatMap(({ delivery, run_id }) => run_id ?? delivery.continues ?? [])
  const runs = cancelSelected(db, env_id, { runIds }, now, runIds.length, replacedMessage)
  const pending = [...db.deliveries.values()].map(({ delivery }) => delivery).filter(isMember)
  for (const { delivery_id } of pending) db.deliveries.delete(delivery_id)
  return { runs, events: pending.map(({ event_id }) => event_id) }
}

/** Removes the waits of an ended run. Its steps stay. */
export const endWaits = ({ histories }: Pick<Database, "histories">, runId: RunId): void => {
  const history = histories.get(runId)
  if (history !== undefined) histories.set(runId, { ...history, waits: [] })
}

/** Ends the deliveries and runs of earlier events with one of the keys, the oldest first. */
export const cancelByKeys = (db: Database, event: Event, keys: ReadonlyArray<string>, now: Timestamp): Replaced => {
  const rows = [...db.deliveries.values()]
    .filter(({ delivery: { env_id, event_id, cancel_key } }) => {
      const isEarlier = env_id === event.env_id && event_id < event.event_id
      return isEarlier && cancel_key !== undefined && keys.includes(cancel_key)
    })
    .sort((a, b) => compareText(a.delivery.event_id, b.delivery.event_id))
    .slice(0, cancelledMax)
  const runIds = rows.flatMap(({ delivery, run_id }) => run_id ?? delivery.continues ?? [])
  const runs = cancelSelected(db, event.env_id, { runIds }, now, runIds.length, cancelledByMessage(event))
  const pending = rows.filter(({ delivery }) => db.deliveries.delete(delivery.delivery_id))
  return { runs, events: pending.map(({ delivery }) => delivery.event_id) }
}

/** Returns the delivery that the run holds, or that would continue it. */
const findHeld = (db: Database, { run_id }: Run): Delivery | undefined =>
  [...db.deliveries.values()].find((row) => row.run_id === run_id || row.delivery.continues === run_id)?.delivery

/** Returns the events of the child runs that a run waits for. */
const findChildren = (history: History | undefined): ReadonlyArray<EventId> =>
  (history?.waits ?? []).flatMap(({ child_event_id, outcome }) =>
    child_event_id === null || outcome !== null ? [] : [child_event_id]
  )

const isSelected = (run: Run, envId: EnvId, which: RunSelection): boolean => {
  const { runId, projectId, type, since, until, eventId, functions, runIds } = which
  const name = `${run.ns}/${run.var}`
  return (
    run.env_id === envId &&
    (runId === undefined || run.run_id === runId) &&
    (projectId === undefined || run.project_id === projectId) &&
    (type === undefined || run.run_type === type) &&
    (since === undefined || run.start_time >= since) &&
    (until === undefined || run.start_time <= until) &&
    (eventId === undefined || run.event_id === eventId) &&
    (functions === undefined || functions.includes(name) || functions.includes(`${run.project_name}:${name}`)) &&
    (runIds === undefined || runIds.includes(run.run_id))
  )
}
