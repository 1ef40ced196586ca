/** Stores of builds with one fault each in live builds, which the contract must detect. */
import { buildStoreChecks } from "@weft/contract"
import { BuildStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { emptyManifest, envId } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

detects("the contract of live builds", buildStoreChecks, {
  "keeps serving the deployed build": faulty(BuildStore, (store) => ({
    goLive: (build) => store.insert(build)
  })),
  "deploys the live build": faulty(BuildStore, (store) => ({
    goLive: (build, manifest) =>
      Effect.andThen(store.goLive(build, manifest), store.deploy(build, manifest, build.created_at))
  })),
  "loses the manifest": faulty(BuildStore, (store) => ({ goLive: (build) => store.goLive(build, emptyManifest) })),
  "reads live builds of other environments": faulty(BuildStore, (store) => ({
    live: (_, project) => store.live(envId(1), project)
  })),
  "ends live builds of other environments": faulty(BuildStore, (store) => ({
    endLive: (_, project, at) => store.endLive(envId(1), project, at)
  })),
  "ends missing live builds": faulty(BuildStore, (store) => ({
    endLive: (env, project, at) => Effect.catchTag(store.endLive(env, project, at), "NotFound", () => Effect.void)
  })),
  "does not end live builds": faulty(BuildStore, (store) => ({
    endLive: (env, project) => Effect.asVoid(store.live(env, project))
  })),
  "starts a live build partially when an endpoint is claimed": faulty(BuildStore, (store) => ({
    goLive: (build, manifest) =>
      Effect.tapError(store.goLive(build, manifest), (error) =>
        error._tag === "Taken" && error.what !== "build_id" ? store.goLive(build, emptyManifest) : Effect.void
      )
  })),
  "stores a rejected live build": faulty(BuildStore, (store) => ({
    goLive: (build, manifest) =>
      Effect.tapError(store.goLive(build, manifest), () => Effect.ignore(store.insert(build)))
  })),
  "ends a live build when another is deployed": faulty(BuildStore, (store) => ({
    deploy: (build, manifest, at) =>
      Effect.andThen(
        store.deploy(build, manifest, at),
        Effect.ignore(store.endLive(build.env_id, build.project_id, at))
      )
  })),
  "keeps the old schedules": faulty(BuildStore, (store) => ({
    goLive: (build, manifest) => store.goLive(build, { ...manifest, schedules: [] })
  }))
})
