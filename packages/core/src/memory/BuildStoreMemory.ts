/** `BuildStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound, StoreUnavailable, Taken } from "../foundation/Errors.ts"
import type { BuildId, EnvId, ProjectId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import { Build } from "../resources/builds/Build.ts"
import { BuildStore, type ProjectRetention, retainingFunctions } from "../resources/builds/BuildStore.ts"
import { endpointName, type Manifest } from "../resources/builds/Manifest.ts"
import type { Schedule } from "../resources/schedules/Schedule.ts"
import { mergeStaticSchedules } from "../resources/schedules/StaticSchedules.ts"
import { listEndpoints } from "./listEndpoints.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<BuildStore, never, MemoryDatabase> = Layer.effect(
  BuildStore,
  Effect.gen(function* () {
    const db = yield* MemoryDatabase
    const { projects, builds, deployments, liveBuilds, schedules, uncommittedBlobs } = db

    /** Returns the builds of the environment whose project exists, with the project's current name. */
    const ofEnv = (envId: EnvId): ReadonlyArray<Build> =>
      [...builds.values()].flatMap((build) => {
        const project = projects.get(build.project_id)
        if (project === undefined || project.env_id !== envId || build.env_id !== envId) return []
        const deployed = deployments.get(build.project_id)?.build_id === build.build_id
        return [new Build({ ...build, project_name: project.name, deployed })]
      })

    const find = (envId: EnvId, id: BuildId | undefined, projectId: ProjectId | undefined) => {
      const found = ofEnv(envId).find(
        (build) => build.build_id === id && (projectId === undefined || build.project_id === projectId)
      )
      return found === undefined ? Effect.fail(notFound) : Effect.succeed(found)
    }

    const findServing = (projectId: ProjectId) => liveBuilds.get(projectId) ?? deployments.get(projectId)

    /** Returns the builds of the environment that `findPlace` returns for their project. */
    const findPlaced = (envId: EnvId, findPlace: (projectId: ProjectId) => Placed | undefined) =>
      ofEnv(envId).flatMap((build) => {
        const found = findPlace(build.project_id)
        return found?.build_id === build.build_id ? [{ build, manifest: found.manifest }] : []
      })

    const findPlacedOne = (envId: EnvId, projectId: ProjectId, place: ReadonlyMap<ProjectId, Placed>) =>
      Effect.suspend(() => {
        const [found] = findPlaced(envId, (id) => (id === projectId ? place.get(id) : undefined))
        return found === undefined ? Effect.fail(notFound) : Effect.succeed(found)
      })

    /** Fails with the first endpoint that the deployed build, the live build or the canary of another project already has. */
    const checkEndpoints = Effect.fnUntraced(function* ({ env_id, project_id }: Build, manifest: Manifest) {
      const ofEnv = [...projects.values()].filter((project) => project.env_id === env_id)
      const others = ofEnv.filter((project) => project.project_id !== project_id)
      const taken = new Set(others.flatMap((project) => listEndpoints(db, project.project_id)))
      const clash = manifest.endpoints.map(endpointName).find((endpoint) => taken.has(endpoint))
      if (clash !== undefined) return yield* new Taken({ what: clash })
    })

    /** Updates the static schedules. Must be called after a change of the build that serves a project. */
    const followServing = (of: Pick<Build, "env_id" | "project_id">, at: Timestamp) => {
      const isOld = ({ project_id, kind }: Schedule) => project_id === of.project_id && kind === "static"
      const old = [...schedules.values()].filter(isOld)
      for (const { schedule_id } of old) schedules.delete(schedule_id)
      const place = liveBuilds.has(of.project_id) ? liveBuilds : deployments
      const serving = place.get(of.project_id)
      if (serving === undefined) return
      const served = mergeStaticSchedules(old, of, serving.manifest, at)
      for (const schedule of served.schedules) schedules.set(schedule.schedule_id, schedule)
      place.set(of.project_id, { ...serving, manifest: served.manifest })
    }

    return BuildStore.of({
      insert: (build) =>
        Effect.suspend((): Effect.Effect<void, Taken | StoreUnavailable> => {
          if (builds.has(build.build_id)) return Effect.fail(takenId)
          if (uncommittedBlobs.get(build.storage_path)?.taken === true) return Effect.fail(bytesGone)
          uncommittedBlobs.delete(build.storage_path)
          builds.set(build.build_id, build)
          return Effect.void
        }),

      get: (envId, id, projectId) => Effect.suspend(() => find(envId, id, projectId)),

      list: (envId, page, { projectId, only }) =>
        Effect.sync(() =>
          toPage(
            ofEnv(envId)
              .filter((build) => projectId === undefined || build.project_id === projectId)
              .filter(
                (build) => only === undefined || only.includes(build.project_id) || only.includes(build.project_name)
              )
              .sort(newestFirst),
            page
          )
        ),

      deploy: Effect.fnUntraced(function* (build, manifest, at) {
        const stored = yield* find(build.env_id, build.build_id, build.project_id)
        yield* checkEndpoints(build, manifest)
        builds.set(build.build_id, new Build({ ...stored, updated_at: at }))
        deployments.set(build.project_id, { build_id: build.build_id, manifest })
        followServing(build, at)
      }),

      deployed: (envId, projectId) => findPlacedOne(envId, projectId, deployments),

      goLive: Effect.fnUntraced(function* (build, manifest) {
        const { build_id, env_id, project_id } = build
        if (projects.get(project_id)?.env_id !== env_id) return yield* noProject
        if (builds.has(build_id)) return yield* takenId
        if (uncommittedBlobs.get(build.storage_path)?.taken === true) return yield* bytesGone
        yield* checkEndpoints(build, manifest)
        uncommittedBlobs.delete(build.storage_path)
        builds.set(build_id, build)
        liveBuilds.set(project_id, { build_id, manifest })
        followServing(build, build.created_at)
      }),

      live: (envId, projectId) => findPlacedOne(envId, projectId, liveBuilds),

      endLive: (env_id, project_id, at) =>
        Effect.map(findPlacedOne(env_id, project_id, liveBuilds), () => {
          liveBuilds.delete(project_id)
          followServing({ env_id, project_id }, at)
        }),

      deployments: (envId) =>
        Effect.sync(() =>
          findPlaced(envId, findServing).sort((a, b) => compareText(a.build.project_id, b.build.project_id))
        ),

      retentions: (after, limit) =>
        Effect.sync(() =>
          [...projects.values()]
            .flatMap(({ env_id, project_id }): ReadonlyArray<ProjectRetention> => {
              const serving = findServing(project_id)
              const functions = serving === undefined ? [] : retainingFunctions(serving.manifest)
              return functions.length === 0 ? [] : [{ env_id, project_id, functions }]
            })
            .filter(({ project_id }) => after === null || project_id > after)
            .sort((a, b) => compareText(a.project_id, b.project_id))
            .slice(0, limit)
        )
    })
  })
)

/** A build that is the deployed or the live one of its project. */
interface Placed {
  readonly build_id: BuildId
  readonly manifest: Manifest
}

const notFound = new NotFound({ resource: "build" })
const bytesGone = new StoreUnavailable({ operation: "insert", cause: new Error("The bytes of the build were removed") })
const takenId = new Taken({ what: "build_id" })
const noProject = new NotFound({ resource: "project" })

/** Sorts by time first: a client may supply a build id of any UUID version. */
const newestFirst = (a: Build, b: Build): number => b.created_at - a.created_at || compareText(b.build_id, a.build_id)
