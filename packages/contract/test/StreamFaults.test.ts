/** Stores of streams with one fault each. */
import { streamStoreChecks } from "@weft/contract"
import { StreamStore } from "@weft/core"
import { Effect } from "effect"
import { envId, streamId } from "../src/Samples.ts"
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
  }))
})
