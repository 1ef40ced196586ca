/** Stores of streams with one fault each, which the contract must detect. */
import { streamStoreChecks } from "@weft/contract"
import { StreamStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { at, envId, streamId } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

detects("the contract of streams", streamStoreChecks, {
  "reports every stream as existing": faulty(StreamStore, () => ({ exists: () => Effect.succeed(true) })),
  "reports no stream as existing": faulty(StreamStore, () => ({ exists: () => Effect.succeed(false) })),
  "mixes all environments": faulty(StreamStore, (store) => ({
    exists: (env, id) =>
      Effect.all([store.exists(env, id), store.exists(envId(2), id)]).pipe(Effect.map(([a, b]) => a || b))
  })),
  "mixes all streams": faulty(StreamStore, (store) => ({
    exists: (env) => store.exists(env, streamId(1))
  })),
  "returns no activity": faulty(StreamStore, () => ({ since: () => Effect.succeed([]) })),
  "returns activity of all environments": faulty(StreamStore, (store) => ({
    since: (env, query) =>
      Effect.map(Effect.all([store.since(env, query), store.since(envId(2), query)]), ([a, b]) =>
        a.length === 0 ? b : a
      )
  })),
  "returns activity of all times": faulty(StreamStore, (store) => ({
    since: (env, query) => store.since(env, { ...query, from: at(0) })
  })),
  "returns activity of all streams": faulty(StreamStore, (store) => ({
    since: (env, query) => store.since(env, { ...query, stream: null })
  })),
  "exceeds the limit": faulty(StreamStore, (store) => ({
    since: (env, query) => store.since(env, { ...query, limit: 1000 })
  })),
  "returns the oldest activity instead of the latest": faulty(StreamStore, (store) => ({
    since: (env, query) =>
      Effect.map(store.since(env, { ...query, limit: 1000 }), (happened) => happened.slice(0, query.limit))
  })),
  "exceeds the byte budget of results": faulty(StreamStore, (store) => ({
    since: (env, query) => store.since(env, { ...query, bytes: 100_000_000 })
  })),
  "omits ended runs": faulty(StreamStore, (store) => ({
    since: (env, query) =>
      Effect.map(store.since(env, query), (happened) => happened.filter(({ activity }) => activity.type !== "run:stop"))
  })),
  "reports every event as the first of its stream": faulty(StreamStore, (store) => ({
    since: (env, query) =>
      Effect.map(store.since(env, query), (happened) =>
        happened.flatMap((each) =>
          each.activity.type === "event:created"
            ? [
                {
                  ...each,
                  activity: { type: "stream:created" as const, env_id: env, stream_id: each.activity.stream_id }
                },
                each
              ]
            : [each]
        )
      )
  }))
})
