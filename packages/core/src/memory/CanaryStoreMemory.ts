/** `CanaryStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound, Taken } from "../foundation/Errors.ts"
import type { CanaryId, EnvId, NodeId } from "../foundation/Ids.ts"
import { Build } from "../resources/builds/Build.ts"
import { BuildStore } from "../resources/builds/BuildStore.ts"
import { type Canary, listRedirected } from "../resources/builds/Canary.ts"
import { type CanaryCounts, noCounts, sumCounts } from "../resources/builds/CanaryCounts.ts"
import { type CanaryDeployment, CanaryStore, type KnownCanary } from "../resources/builds/CanaryStore.ts"
import { endpointName, type Manifest } from "../resources/builds/Manifest.ts"
import { listEndpoints } from "./listEndpoints.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<CanaryStore, never, MemoryDatabase | BuildStore> = Layer.effect(
  CanaryStore,
  Effect.gen(function* () {
    const db = yield* MemoryDatabase
    const builds = yield* BuildStore

    const isCurrent = ({ project_id, base_build_id, state }: Canary) =>
      state === "active" && db.deployments.get(project_id)?.build_id === base_build_id

    /** Fails with the first endpoint of the build that another project has. */
    const checkEndpoints = Effect.fnUntraced(function* ({ env_id, project_id }: Canary, manifest: Manifest) {
      const ofEnv = [...db.projects.values()].filter((project) => project.env_id === env_id)
      const others = ofEnv.filter((project) => project.project_id !== project_id)
      const taken = new Set(others.flatMap((project) => listEndpoints(db, project.project_id)))
      const clash = manifest.endpoints.map(endpointName).find((endpoint) => taken.has(endpoint))
      if (clash !== undefined) return yield* new Taken({ what: clash })
    })

    const findActive = (envId: EnvId, id: CanaryId) =>
      [...db.canaries.values()].find(
        ({ canary }) => canary.env_id === envId && canary.canary_id === id && canary.state === "active"
      )

    const counts = ({ canary_id }: Canary) => sumCounts([...(db.canaryCounts.get(canary_id)?.values() ?? [])])

    const listFunctions = ({ project_id, canary_id }: Canary) => {
      const deployed = db.deployments.get(project_id)
      const latest = db.canaries.get(project_id)
      const manifest = latest?.canary.canary_id === canary_id ? latest.manifest : null
      return deployed === undefined ? [] : listRedirected(manifest, deployed.manifest)
    }

    const redirect = (canary: Canary) => {
      const { project_id, build_id } = canary
      const deployed = db.deployments.get(project_id)
      if (deployed === undefined || deployed.build_id === build_id) return
      const functions = listFunctions(canary)
      for (const [id, row] of db.deliveries) {
        const { delivery } = row
        const isPending = row.run_id === null && delivery.continues === null && delivery.project_id === project_id
        if (isPending && delivery.build_id === build_id && functions.includes(`${delivery.ns}/${delivery.var}`))
          db.deliveries.set(id, { ...row, delivery: { ...delivery, build_id: deployed.build_id } })
      }
    }

    return CanaryStore.of({
      begin: Effect.fnUntraced(function* (canary, manifest, replace) {
        const { project_id, env_id } = canary
        if (db.projects.get(project_id)?.env_id !== env_id || !isCurrent(canary)) return yield* noDeployed
        const latest = db.canaries.get(project_id)?.canary
        if (latest?.state === "active" && isCurrent(latest) && !replace) return yield* taken
        yield* checkEndpoints(canary, manifest)
        if (latest !== undefined) db.canaryCounts.delete(latest.canary_id)
        db.canaries.set(project_id, { canary, manifest })
      }),

      latest: (envId, projectId) =>
        Effect.suspend(() => {
          const found = db.canaries.get(projectId)?.canary
          return found?.env_id === envId ? Effect.succeed(found) : Effect.fail(notFound)
        }),

      active: (envId) =>
        Effect.sync(() =>
          [...db.canaries.values()]
            .flatMap(({ canary, manifest }): ReadonlyArray<CanaryDeployment> => {
              const build = db.builds.get(canary.build_id)
              const project = db.projects.get(canary.project_id)
              if (canary.env_id !== envId || build === undefined || project === undefined) return []
              if (!isCurrent(canary) || db.liveBuilds.has(canary.project_id)) return []
              return [{ canary, manifest, build: new Build({ ...build, project_name: project.name, deployed: false }) }]
            })
            .sort((a, b) => compareText(a.canary.project_id, b.canary.project_id))
        ),

      known: (since) =>
        Effect.sync(() =>
          [...db.canaries.values()].flatMap(({ canary }): ReadonlyArray<KnownCanary> => {
            if (canary.state === "active") return [{ canary, redirect: null }]
            const deployed = db.deployments.get(canary.project_id)
            const isRecent = canary.state === "rolled_back" && (canary.ended_at ?? 0) >= since
            if (!isRecent || deployed === undefined || deployed.build_id === canary.build_id) return []
            const { build_id } = deployed
            return [{ canary, redirect: { build_id, functions: listFunctions(canary) } }]
          })
        ),

      report: (canary, nodeId, counted) =>
        Effect.sync(() => {
          const latest = db.canaries.get(canary.project_id)?.canary
          if (latest?.canary_id !== canary.canary_id || latest.state !== "active")
            return { counts: noCounts, isCurrent: false }
          const byNode = db.canaryCounts.get(canary.canary_id) ?? new Map<NodeId, CanaryCounts>()
          db.canaryCounts.set(canary.canary_id, byNode.set(nodeId, counted))
          return { counts: counts(canary), isCurrent: isCurrent(latest) }
        }),

      counts: (canary) => Effect.sync(() => counts(canary)),

      end: Effect.fnUntraced(function* (envId, canaryId, { state, reason, at }) {
        const found = findActive(envId, canaryId)
        if (found === undefined || (state === "promoted" && !isCurrent(found.canary))) return yield* notFound
        const { canary, manifest } = found
        const ended: Canary = { ...canary, state, reason, ended_at: at }
        db.canaries.set(canary.project_id, { canary: ended, manifest })
        if (state === "promoted") {
          const build = yield* builds.get(envId, canary.build_id, canary.project_id)
          yield* Effect.catchTag(builds.deploy(build, manifest, at), "Taken", Effect.die)
        }
        if (state === "rolled_back") redirect(ended)
        return ended
      }),

      redirect: (canary) => Effect.sync(() => redirect(canary))
    })
  })
)

const notFound = new NotFound({ resource: "canary" })
const noDeployed = new NotFound({ resource: "deployed build" })
const taken = new Taken({ what: "canary" })
