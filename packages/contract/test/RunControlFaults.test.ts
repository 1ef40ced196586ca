/** Run control stores with one fault each, which the contract must detect. */
import { runControlStoreChecks } from "@weft/contract"
import {
  type DeliverySelection,
  JournalStore,
  ProjectStore,
  RunControlStore,
  type RunSelection
} from "@weft/core/adapter"
import { Effect } from "effect"
import { at, envId, logLine, projectId, runId } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

type Store = RunControlStore["Service"]

const cancels = (change: (cancel: Store["cancel"]) => Store["cancel"]) =>
  faulty(RunControlStore, (store) => ({ cancel: change(store.cancel) }))

const discards = (change: (discard: Store["discard"]) => Store["discard"]) =>
  faulty(RunControlStore, (store) => ({ discard: change(store.discard) }))

/** A store that ignores a field of the selection of deliveries. */
const discardsWithout = (field: keyof DeliverySelection) =>
  discards((discard) => (env, which, after, limit) => {
    const { [field]: _, ...rest } = which
    return discard(env, rest, after, limit)
  })

/** A store that ignores a field of the selection. */
const ignores = (field: keyof RunSelection) =>
  cancels((cancel) => (env, which, now, limit) => {
    const { [field]: _, ...rest } = which
    return cancel(env, rest, now, limit)
  })

detects("the contract of the control of runs", runControlStoreChecks, {
  "cancels nothing": cancels(() => () => Effect.succeed([])),
  "returns none of the cancelled runs": cancels(
    (cancel) =>
      (...args) =>
        Effect.as(cancel(...args), [])
  ),
  "mixes all environments": cancels((cancel) => (_, which, now, limit) => cancel(envId(1), which, now, limit)),
  "also cancels in other environments": cancels(
    (cancel) =>
      (env, which, ...rest) =>
        Effect.tap(cancel(env, which, ...rest), () => cancel(envId(2), which, ...rest))
  ),
  "ignores the run id": ignores("runId"),
  "ignores the type": ignores("type"),
  "ignores the earliest start": ignores("since"),
  "ignores the latest start": ignores("until"),
  "ignores the event": ignores("eventId"),
  "ignores the functions": ignores("functions"),
  "ignores the limit": cancels((cancel) => (env, which, now) => cancel(env, which, now, 1000)),
  "sets a wrong stop time": cancels((cancel) => (env, which, _, limit) => cancel(env, which, at(999), limit)),
  "loses the group": cancels(
    (cancel) =>
      (...args) =>
        Effect.map(cancel(...args), (cancelled) => cancelled.map((each) => ({ ...each, group: null })))
  ),
  "lets a cancelled run be settled": faulty(JournalStore, (store) => ({
    commit: (entries, lease) => Effect.map(store.commit(entries, lease), (counted) => counted.map(() => true))
  })),
  "ignores the project": ignores("projectId"),
  "discards nothing": discards(() => () => Effect.succeed({ discarded: [], next: null })),
  "discards without an answer": discards(
    (discard) =>
      (...args) =>
        Effect.map(discard(...args), ({ next }) => ({ discarded: [], next }))
  ),
  "discards in another environment": discards(
    (discard) =>
      (_, ...rest) =>
        discard(envId(1), ...rest)
  ),
  "discards without the project": discardsWithout("projectId"),
  "discards without the name of the project": discardsWithout("project"),
  "discards without the type of the event": discardsWithout("eventType"),
  "discards without the functions": discardsWithout("functions"),
  "discards later deliveries": discardsWithout("before"),
  "discards only by the first list of functions": discards((discard) => (env, which, after, limit) => {
    const { functions = [], ...rest } = which
    return discard(env, { ...rest, functions: functions.slice(0, 1) }, after, limit)
  }),
  "examines from the start again": discards((discard) => (env, which, _, limit) => discard(env, which, null, limit)),
  "examines everything": discards((discard) => (env, which, after) => discard(env, which, after, 1000)),
  "claims deliveries of removed projects": faulty(ProjectStore, (store) => ({
    remove: () => Effect.void,
    removals: store.removals
  })),
  "forgets removals that are not swept": faulty(ProjectStore, (store) => ({
    forgetRemovals: (before) => Effect.andThen(store.markSwept(projectId(1)), store.forgetRemovals(before))
  })),
  "lists swept removals": faulty(ProjectStore, () => ({ markSwept: () => Effect.void })),
  "drops logs": faulty(RunControlStore, () => ({ log: (logs) => Effect.succeed(logs.map(() => "running" as const)) })),
  "writes only the first of many logs": faulty(RunControlStore, (store) => ({
    log: (logs) => store.log(logs.slice(0, 1))
  })),
  "appends to logs": faulty(RunControlStore, (store) => ({
    log: (logs) => store.log(logs.map((one) => ({ ...one, entries: [logLine(0), ...one.entries] })))
  })),
  "writes logs of other environments": faulty(RunControlStore, (store) => ({
    log: (logs) => store.log(logs.map((one) => ({ ...one, env_id: envId(1) })))
  })),
  "treats every run as running": faulty(RunControlStore, (store) => ({
    log: (logs) =>
      Effect.as(
        store.log(logs),
        logs.map(() => "running" as const)
      )
  })),
  "returns every run as ended": faulty(RunControlStore, () => ({
    ended: (runs) => Effect.succeed(runs.map((run) => run.run_id))
  })),
  "returns no ended run": faulty(RunControlStore, () => ({ ended: () => Effect.succeed([]) })),
  "returns unknown runs as ended": faulty(RunControlStore, (store) => ({
    ended: (runs) => Effect.map(store.ended(runs), (ended) => [...ended, runId(404)])
  })),
  "redelivers nothing": faulty(RunControlStore, () => ({ redeliver: () => Effect.void })),
  "redelivers immediately": faulty(RunControlStore, (store) => ({
    redeliver: (delivery) => store.redeliver({ ...delivery, due_at: at(0) })
  })),
  "loses the cause of a delivery": faulty(RunControlStore, (store) => ({
    redeliver: (delivery) => store.redeliver({ ...delivery, caused_by: null })
  }))
})
