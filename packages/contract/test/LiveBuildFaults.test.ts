/** The contract of builds notices stores that are wrong about live ones. */
import { buildStoreChecks } from "@weft/contract"
import { BuildStore } from "@weft/core"
import { Effect } from "effect"
import { emptyManifest, envId } from "../src/Samples.ts"
import { faulty, notices } from "./Faults.ts"

notices("the contract of live builds", buildStoreChecks, {
  "lets the deployed build go on serving": faulty(BuildStore, (store) => ({
    goLive: (build) => store.insert(build)
  })),
  "deploys the live build": faulty(BuildStore, (store) => ({
    goLive: (build, manifest) =>
      Effect.andThen(store.goLive(build, manifest), store.deploy(build, manifest, build.created_at))
  })),
  "forgets the manifest": faulty(BuildStore, (store) => ({ goLive: (build) => store.goLive(build, emptyManifest) })),
  "reads live builds of other environments": faulty(BuildStore, (store) => ({
    live: (_, project) => store.live(envId(1), project)
  })),
  "ends those of other environments": faulty(BuildStore, (store) => ({
    endLive: (_, project, at) => store.endLive(envId(1), project, at)
  })),
  "ends what is not there": faulty(BuildStore, (store) => ({
    endLive: (env, project, at) => Effect.catchTag(store.endLive(env, project, at), "NotFound", () => Effect.void)
  })),
  "does not end": faulty(BuildStore, (store) => ({
    endLive: (env, project) => Effect.asVoid(store.live(env, project))
  })),
  "goes live with what it can when an endpoint is taken": faulty(BuildStore, (store) => ({
    goLive: (build, manifest) =>
      Effect.tapError(store.goLive(build, manifest), (error) =>
        error._tag === "Taken" && error.what !== "build_id" ? store.goLive(build, emptyManifest) : Effect.void
      )
  })),
  "keeps the build that could not go live": faulty(BuildStore, (store) => ({
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
  "keeps the schedules of before": faulty(BuildStore, (store) => ({
    goLive: (build, manifest) => store.goLive(build, { ...manifest, schedules: [] })
  }))
})
