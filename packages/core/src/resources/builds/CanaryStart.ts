/** The start of a canary, and the checks that a deployment makes about an active one. */
import { Effect, Result } from "effect"
import { BadRequest, CanaryActive, type NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import { CanaryId, freshIds } from "../../foundation/Ids.ts"
import { iso, now } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import type { Build } from "./Build.ts"
import { BuildStore } from "./BuildStore.ts"
import { type Canary, type NewCanary, readCanary } from "./Canary.ts"
import { CanaryStore } from "./CanaryStore.ts"
import { toEndpointConflict } from "./EndpointConflict.ts"
import type { Manifest } from "./Manifest.ts"

/** Maximum active canaries of an environment: each doubles the views of its deployments in memory. */
const canariesMax = 5

export const makeCanaryStart = Effect.gen(function* () {
  const store = yield* CanaryStore
  const builds = yield* BuildStore
  const bus = yield* ClusterBus
  const fresh = yield* freshIds

  /** Returns the active canary of the project of the build whose base is still deployed; null without one. */
  const findActive = Effect.fnUntraced(function* ({ env_id, project_id }: Build) {
    const latest = yield* orNull(store.latest(env_id, project_id))
    if (latest === null || latest.state !== "active") return null
    const deployed = yield* orNull(builds.deployed(env_id, project_id))
    return deployed?.build.build_id === latest.base_build_id ? latest : null
  })

  const checkNone = Effect.fnUntraced(function* (build: Build) {
    const found = yield* findActive(build)
    if (found !== null) return yield* toCanaryActive(found)
  })

  return {
    /** Fails if a canary of the project is active. */
    checkNone,

    /** Ends an active canary, because another build is deployed. Also one whose base is no longer deployed. */
    endReplaced: Effect.fnUntraced(function* ({ env_id, project_id, build_id }: Build) {
      const latest = yield* orNull(store.latest(env_id, project_id))
      if (latest === null || latest.state !== "active") return
      const reason = `The build ${build_id} was deployed`
      const ended = store.end(env_id, latest.canary_id, { state: "replaced", reason, at: yield* now })
      yield* Effect.catchTag(ended, "NotFound", () => Effect.void)
      yield* bus.sendControl([{ type: "canaries:changed" }])
    }),

    /** Returns the canary of the build. Fails if the settings are invalid, or if no other build is deployed. */
    prepare: Effect.fnUntraced(function* (
      build: Build,
      sent: NewCanary
    ): Effect.fn.Return<Canary, BadRequest | StoreUnavailable> {
      const { env_id, project_id, build_id } = build
      const settings = readCanary(sent)
      if (Result.isFailure(settings)) return yield* new BadRequest({ reason: settings.failure })
      const deployed = yield* orNull(builds.deployed(env_id, project_id))
      if (deployed === null) return yield* noBase
      if (deployed.build.build_id === build_id) return yield* ownBase
      const others = (yield* store.active(env_id)).filter(({ canary }) => canary.project_id !== project_id)
      if (others.length >= canariesMax)
        return yield* new BadRequest({
          reason: `canary: the environment has ${canariesMax} active canaries, the maximum: promote or roll back one`
        })
      const started_at = yield* now
      return {
        canary_id: yield* fresh(CanaryId),
        ...{ env_id, project_id, build_id, base_build_id: deployed.build.build_id },
        ...{ state: "active", settings: settings.success },
        ...{ started_at, ended_at: null, reason: null }
      }
    }),

    /** Stores the canary and notifies the nodes. */
    begin: Effect.fnUntraced(function* (canary: Canary, build: Build, manifest: Manifest, replace: boolean) {
      yield* Effect.catchTags(store.begin(canary, manifest, replace), {
        Taken: Effect.fnUntraced(function* (error) {
          if (error.what !== "canary") return yield* toEndpointConflict(error, manifest)
          yield* checkNone(build)
          return yield* new CanaryActive({ reason: "Another canary of the project has just ended: deploy again" })
        }),
        NotFound: () => Effect.fail(baseChanged)
      })
      yield* bus.sendControl([{ type: "canaries:changed" }])
    })
  }
})

const orNull = <A>(found: Effect.Effect<A, NotFound | StoreUnavailable>) =>
  Effect.catchTag(found, "NotFound", () => Effect.succeed(null))

const toCanaryActive = ({ build_id, started_at }: Canary): CanaryActive =>
  new CanaryActive({
    reason: `The build ${build_id} has been a canary of the project since ${iso(started_at)}: promote it, roll it back, or send replace`
  })

const noBase = new BadRequest({
  reason: "canary: no build of the project is deployed; deploy one without canary first"
})
const ownBase = new BadRequest({ reason: "canary: this build is already the deployed one" })
const baseChanged = new BadRequest({ reason: "canary: another build was deployed meanwhile; deploy again" })
