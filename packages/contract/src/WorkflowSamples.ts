/** Sample records of durable runs. */
import {
  type Delivery,
  type Event,
  formatWaiting,
  type JournalEntry,
  JournalStore,
  type JsonText,
  type NodeId,
  type Run,
  RunControlStore,
  RunStore,
  type StepRecord,
  type Suspension,
  toJsonText,
  type Waiting,
  type WaitRecord,
  WorkflowStore,
  type WorkflowToken,
  type WorkflowTokenStore
} from "@weft/core/adapter"
import { Effect, type Schema } from "effect"
import type { JournalStores } from "./Claims.ts"
import { at, delivery, deliveryId, ended, envId, event, nodeId, runHolding, runId } from "./Samples.ts"
import { sealWith } from "./SecretSamples.ts"

export type WorkflowStores = JournalStores | WorkflowStore | WorkflowTokenStore | RunControlStore

export type Advanced = Extract<JournalEntry, { _tag: "Advanced" }>

/** The durable run `n` in its first activation. It holds delivery `n` of event `n`. */
export const active = (n: number, node: NodeId = nodeId(1), of: Partial<Event> = {}, held: Partial<Delivery> = {}) => {
  const published = event(n, of)
  const intent = delivery(n, published, { durable: true, ...held })
  const run = runHolding(n, intent, { node_id: node, activations: 1, steps: 0 })
  return { run, delivery: intent, event: published }
}

/** The start of the run, claimed on insert. */
export const started = (...of: Parameters<typeof active>): JournalEntry => {
  const { run, delivery, event } = active(...of)
  return { _tag: "Appended", event, deliveries: [{ delivery, run }] }
}

/** The result `position` of request `seq`. */
export const step = (position: number, fields: Partial<StepRecord> = {}): StepRecord => ({
  ...{ position, seq: position, kind: "step", name: `step ${position}`, ok: true, attempts: 1 },
  ...{ result: toJsonText({ position }), started_at: at(position), ended_at: at(position + 1) },
  ...fields
})

/** A wait for an event of the type `paid`, since `at(0)`. */
export const awaitPaid = (seq: number, match: object | null = null, fields: Partial<WaitRecord> = {}): WaitRecord => ({
  ...{ seq, kind: "event", name: `wait ${seq}`, event_type: "paid", attempts: 0, since: at(0), until: null },
  token_seq: null,
  match: match === null ? null : toMatch(match),
  child_event_id: null,
  outcome: null,
  ...fields
})

const toMatch = (match: object): JsonText =>
  toJsonText(Object.entries(match).map(([path, value]) => [path, JSON.stringify(value)]))

/** A sleep until `until`. */
export const sleep = (seq: number, until: number): WaitRecord => ({
  ...{ seq, kind: "sleep", name: `sleep ${seq}`, event_type: null, match: null, token_seq: null, attempts: 0 },
  ...{ since: at(0), until: at(until), child_event_id: null, outcome: null }
})

/** A wait for the token that request `tokenSeq` created. */
export const awaitToken = (seq: number, tokenSeq: number, fields: Partial<WaitRecord> = {}): WaitRecord => ({
  ...awaitPaid(seq, null, { kind: "completion", name: `wait ${seq}`, event_type: null, token_seq: tokenSeq }),
  ...fields
})

/** The pending token `seq` of run `n`. */
export const token = (n: number, seq: number, fields: Partial<WorkflowToken> = {}): WorkflowToken => ({
  ...{ env_id: envId(1), run_id: runId(n), seq, name: `token ${seq}`, state: "pending", created_at: at(1) },
  ...{ expires_at: null, completed_at: null, result: null },
  token_hash: `${n}-${seq}`.padStart(64, "0"),
  secret: sealWith("0123456789abcdef", `token ${n} ${seq}`),
  ...fields
})

/** The wait of a suspended run. */
export const timer: JsonText = formatWaiting({
  for: "timer",
  name: "sleep",
  since: at(0),
  until: at(500)
} satisfies Waiting)

export const suspension = (due: number, logs: Suspension["logs"] = []): Suspension => ({
  due_at: at(due),
  waiting: timer,
  cleanup_until: null,
  logs
})

/** Progress of run `n`, which holds delivery `n`. */
export const advanced = (n: number, progress: Partial<Advanced>, of: Partial<Run> = {}): Advanced => ({
  ...{ _tag: "Advanced", run: { ...active(n).run, ...of }, deliveryId: deliveryId(n), at: at(100) },
  ...{ steps: [], waits: [], suspension: null },
  ...progress
})

/** The end of a run that holds the delivery. */
export const settledWith = (run: Run, held: Delivery["delivery_id"]): JournalEntry => ({
  ...{ _tag: "Settled", run: ended(run), logs: [], deliveryId: held, next: null }
})

/** Event `n` of the type `paid`, created at `at(50)`. */
export const paid = (n: number, data: Schema.Json = {}, fields: Partial<Event> = {}): Event =>
  event(n, { event_type: "paid", event_data: toJsonText(data), created_at: at(50), ...fields })

export const commit = (...entries: ReadonlyArray<JournalEntry>) =>
  JournalStore.use((journal) => journal.commit(entries, null))

export const load = (n: number, env = 1) =>
  WorkflowStore.use((store) => store.load({ env_id: envId(env), run_id: runId(n) }))

export const history = (n: number) => Effect.map(load(n), (loaded) => loaded.history)

export const storedRun = (n: number, env = 1) => RunStore.use((runs) => runs.get(envId(env), runId(n)))

export const arrive = (of: Event | ReadonlyArray<Event>, now = 200) =>
  Effect.map(
    WorkflowStore.use((store) => store.arrive("event_id" in of ? [of] : of, at(now))),
    (runs) => runs.map(({ run_id }) => run_id).sort()
  )

export const cancelRun = (n: number) =>
  RunControlStore.use((control) => control.cancel(envId(1), { runId: runId(n) }, at(1000), 10))
