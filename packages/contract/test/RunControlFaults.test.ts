/** Stores that control runs with one fault each. */
import { runControlStoreChecks } from "@weft/contract"
import { JournalStore, RunControlStore, type RunSelection } from "@weft/core"
import { Effect } from "effect"
import { at, envId, logLine, runId } from "../src/Samples.ts"
import { faulty, notices } from "./Faults.ts"

type Store = RunControlStore["Service"]

const cancels = (change: (cancel: Store["cancel"]) => Store["cancel"]) =>
  faulty(RunControlStore, (store) => ({ cancel: change(store.cancel) }))

/** A store that forgets a field of the selection. */
const forgets = (field: keyof RunSelection) =>
  cancels((cancel) => (env, which, now, limit) => {
    const { [field]: _, ...rest } = which
    return cancel(env, rest, now, limit)
  })

notices("the contract of the control of runs", runControlStoreChecks, {
  "cancels nothing": cancels(() => () => Effect.succeed([])),
  "says so of nothing that it cancels": cancels(
    (cancel) =>
      (...args) =>
        Effect.as(cancel(...args), [])
  ),
  "takes all environments for one": cancels((cancel) => (_, which, now, limit) => cancel(envId(1), which, now, limit)),
  "cancels in other environments, too": cancels(
    (cancel) =>
      (env, which, ...rest) =>
        Effect.tap(cancel(env, which, ...rest), () => cancel(envId(2), which, ...rest))
  ),
  "forgets which run": forgets("runId"),
  "forgets the type": forgets("type"),
  "forgets the start": forgets("since"),
  "forgets the latest start": forgets("until"),
  "forgets the event": forgets("eventId"),
  "forgets the functions": forgets("functions"),
  "ignores the limit": cancels((cancel) => (env, which, now) => cancel(env, which, now, 1000)),
  "stops at another time": cancels((cancel) => (env, which, _, limit) => cancel(env, which, at(999), limit)),
  "forgets the group": cancels(
    (cancel) =>
      (...args) =>
        Effect.map(cancel(...args), (cancelled) => cancelled.map(({ run }) => ({ run, group: null })))
  ),
  "lets a cancelled run be settled": faulty(JournalStore, (store) => ({
    commit: (entries, lease) => Effect.map(store.commit(entries, lease), (counted) => counted.map(() => true))
  })),
  "drops logs": faulty(RunControlStore, () => ({ log: (logs) => Effect.succeed(logs.map(() => "running" as const)) })),
  "writes only the first of many logs": faulty(RunControlStore, (store) => ({
    log: (logs) => store.log(logs.slice(0, 1))
  })),
  "adds to logs": faulty(RunControlStore, (store) => ({
    log: (logs) => store.log(logs.map((one) => ({ ...one, entries: [logLine(0), ...one.entries] })))
  })),
  "logs for all environments": faulty(RunControlStore, (store) => ({
    log: (logs) => store.log(logs.map((one) => ({ ...one, env_id: envId(1) })))
  })),
  "takes every run for running": faulty(RunControlStore, (store) => ({
    log: (logs) =>
      Effect.as(
        store.log(logs),
        logs.map(() => "running" as const)
      )
  })),
  "takes every run for ended": faulty(RunControlStore, () => ({
    ended: (runs) => Effect.succeed(runs.map((run) => run.run_id))
  })),
  "knows of no ended run": faulty(RunControlStore, () => ({ ended: () => Effect.succeed([]) })),
  "takes unknown runs for ended": faulty(RunControlStore, (store) => ({
    ended: (runs) => Effect.map(store.ended(runs), (ended) => [...ended, runId(404)])
  })),
  "delivers nothing once more": faulty(RunControlStore, () => ({ redeliver: () => Effect.void })),
  "delivers once more at once": faulty(RunControlStore, (store) => ({
    redeliver: (delivery) => store.redeliver({ ...delivery, due_at: at(0) })
  })),
  "forgets what caused a delivery": faulty(RunControlStore, (store) => ({
    redeliver: (delivery) => store.redeliver({ ...delivery, caused_by: null })
  }))
})
