/** Stores of streams with one fault each. */
import { streamStoreChecks } from "@weft/contract"
import { StreamStore } from "@weft/core"
import { Effect } from "effect"
import { at, envId, streamId } from "../src/Samples.ts"
import { faulty, notices } from "./Faults.ts"

notices("the contract of streams", streamStoreChecks, {
  "knows every stream": faulty(StreamStore, () => ({ exists: () => Effect.succeed(true) })),
  "knows no stream": faulty(StreamStore, () => ({ exists: () => Effect.succeed(false) })),
  "takes all environments for one": faulty(StreamStore, (store) => ({
    exists: (env, id) =>
      Effect.all([store.exists(env, id), store.exists(envId(2), id)]).pipe(Effect.map(([a, b]) => a || b))
  })),
  "takes all streams for one": faulty(StreamStore, (store) => ({
    exists: (env) => store.exists(env, streamId(1))
  })),
  "tells nothing of what has happened": faulty(StreamStore, () => ({ since: () => Effect.succeed([]) })),
  "tells of all environments": faulty(StreamStore, (store) => ({
    since: (env, query) =>
      Effect.map(Effect.all([store.since(env, query), store.since(envId(2), query)]), ([a, b]) =>
        a.length === 0 ? b : a
      )
  })),
  "tells of all times": faulty(StreamStore, (store) => ({
    since: (env, query) => store.since(env, { ...query, from: at(0) })
  })),
  "tells of all streams": faulty(StreamStore, (store) => ({
    since: (env, query) => store.since(env, { ...query, stream: null })
  })),
  "tells more than was asked for": faulty(StreamStore, (store) => ({
    since: (env, query) => store.since(env, { ...query, limit: 1000 })
  })),
  "tells the oldest of more": faulty(StreamStore, (store) => ({
    since: (env, query) =>
      Effect.map(store.since(env, { ...query, limit: 1000 }), (happened) => happened.slice(0, query.limit))
  })),
  "tells results that do not fit in": faulty(StreamStore, (store) => ({
    since: (env, query) => store.since(env, { ...query, bytes: 100_000_000 })
  })),
  "leaves out what has ended": faulty(StreamStore, (store) => ({
    since: (env, query) =>
      Effect.map(store.since(env, query), (happened) => happened.filter(({ activity }) => activity.type !== "run:stop"))
  })),
  "takes every event for the first of its stream": faulty(StreamStore, (store) => ({
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
