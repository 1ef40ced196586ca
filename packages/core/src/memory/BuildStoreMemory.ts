/** `BuildStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { Build } from "../builds/Build.ts"
import { BuildStore } from "../builds/BuildStore.ts"
import type { Manifest } from "../builds/Manifest.ts"
import { NotFound, Taken } from "../errors/Errors.ts"
import type { BuildId, EnvId, ProjectId } from "../ids/Ids.ts"
import { compareText, MemoryDatabase, pageOf } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<BuildStore, never, MemoryDatabase> = Layer.effect(
  BuildStore,
  Effect.gen(function* () {
    const { projects, builds, deployments } = yield* MemoryDatabase

    /** Builds of the environment whose project exists, with its name of today. */
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

    const deployedOf = (envId: EnvId) =>
      ofEnv(envId).flatMap((build) => {
        const deployment = deployments.get(build.project_id)
        return build.deployed && deployment !== undefined ? [{ build, manifest: deployment.manifest }] : []
      })

    return BuildStore.of({
      insert: (build) =>
        Effect.suspend(() => {
          if (builds.has(build.build_id)) return Effect.fail(new Taken({ what: "build_id" }))
          builds.set(build.build_id, build)
          return Effect.void
        }),

      get: (envId, id, projectId) => Effect.suspend(() => find(envId, id, projectId)),

      list: (envId, page, { projectId, only }) =>
        Effect.sync(() =>
          pageOf(
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
        const others = deployedOf(build.env_id).filter((other) => other.build.project_id !== build.project_id)
        const served = new Set(others.flatMap((other) => endpointsOf(other.manifest)))
        const clash = endpointsOf(manifest).find((endpoint) => served.has(endpoint))
        if (clash !== undefined) return yield* new Taken({ what: clash })
        builds.set(build.build_id, new Build({ ...stored, updated_at: at }))
        deployments.set(build.project_id, { build_id: build.build_id, manifest })
      }),

      deployed: (envId, projectId) =>
        Effect.suspend(() => {
          const found = deployedOf(envId).find((deployment) => deployment.build.project_id === projectId)
          return found === undefined ? Effect.fail(notFound) : Effect.succeed(found)
        }),

      deployments: (envId) =>
        Effect.sync(() => [...deployedOf(envId)].sort((a, b) => compareText(a.build.project_id, b.build.project_id)))
    })
  })
)

const notFound = new NotFound({ resource: "build" })

const endpointsOf = (manifest: Manifest): ReadonlyArray<string> =>
  manifest.endpoints.map((endpoint) => `${endpoint.method} /${endpoint.service}${endpoint.path}`)

/** Not by id alone: a client may supply a build id of any UUID version. */
const newestFirst = (a: Build, b: Build): number => b.created_at - a.created_at || compareText(b.build_id, a.build_id)
