/** `ProjectStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound, Taken } from "../foundation/Errors.ts"
import { Timestamp } from "../foundation/time/Timestamp.ts"
import { artifactKey } from "../resources/builds/Artifacts.ts"
import { Project } from "../resources/projects/Project.ts"
import { ProjectStore } from "../resources/projects/ProjectStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<ProjectStore, never, MemoryDatabase> = Layer.effect(
  ProjectStore,
  Effect.gen(function* () {
    const {
      projects,
      removedProjects,
      builds,
      deployments,
      liveBuilds,
      contextVariables,
      schedules,
      pauses,
      series,
      alerts,
      canaries,
      previews,
      uncommittedBlobs
    } = yield* MemoryDatabase

    const isTaken = (project: Project) =>
      [...projects.values()].some(
        (other) =>
          other.env_id === project.env_id && other.name === project.name && other.project_id !== project.project_id
      )

    return ProjectStore.of({
      insert: (project) =>
        Effect.suspend(() => {
          if (isTaken(project) || projects.has(project.project_id)) return Effect.fail(taken)
          projects.set(project.project_id, project)
          return Effect.void
        }),

      get: (envId, idOrName) =>
        Effect.suspend(() => {
          const found = [...projects.values()].find(
            (project) => project.env_id === envId && (project.project_id === idOrName || project.name === idOrName)
          )
          return found === undefined ? Effect.fail(notFound) : Effect.succeed(found)
        }),

      list: (envId, page, only) =>
        Effect.sync(() =>
          toPage(
            [...projects.values()]
              .filter((project) => project.env_id === envId)
              .filter(
                (project) => only === undefined || only.includes(project.project_id) || only.includes(project.name)
              )
              .sort((a, b) => compareText(b.project_id, a.project_id)),
            page
          )
        ),

      update: Effect.fnUntraced(function* (project) {
        const old = projects.get(project.project_id)
        if (old === undefined || old.env_id !== project.env_id) return yield* notFound
        if (isTaken(project)) return yield* taken
        projects.set(old.project_id, new Project({ ...old, name: project.name, updated_at: project.updated_at }))
      }),

      remove: (envId, id, at) =>
        Effect.suspend(() => {
          if (projects.get(id)?.env_id !== envId) return Effect.fail(notFound)
          projects.delete(id)
          removedProjects.set(id, { project_id: id, env_id: envId, removed_at: at, swept: false })
          for (const [previewId, row] of previews)
            if (row.preview.project_id === id && row.removed_at === null)
              previews.set(previewId, { ...row, preview: { ...row.preview, expires_at: at }, due_at: at })
          deployments.delete(id)
          liveBuilds.delete(id)
          canaries.delete(id)
          for (const build of builds.values()) {
            if (build.project_id !== id) continue
            builds.delete(build.build_id)
            for (const key of [build.storage_path, artifactKey(build)])
              uncommittedBlobs.set(key, { until: immediately, taken: false })
          }
          for (const [place, variable] of contextVariables)
            if (variable.project_id === id) contextVariables.delete(place)
          for (const { project_id, schedule_id } of schedules.values())
            if (project_id === id) schedules.delete(schedule_id)
          for (const { project_id, alert_id } of alerts.values()) if (project_id === id) alerts.delete(alert_id)
          for (const [key, { project_id }] of series) if (project_id === id) series.delete(key)
          for (const { project_id, pause_id } of pauses.values()) if (project_id === id) pauses.delete(pause_id)
          return Effect.void
        }),

      removals: (after, limit) =>
        Effect.sync(() =>
          [...removedProjects.values()]
            .filter(({ project_id, swept }) => !swept && project_id > (after ?? ""))
            .sort((a, b) => compareText(a.project_id, b.project_id))
            .slice(0, limit)
        ),

      markSwept: (id) =>
        Effect.sync(() => {
          const removed = removedProjects.get(id)
          if (removed !== undefined) removedProjects.set(id, { ...removed, swept: true })
        }),

      forgetRemovals: (before) =>
        Effect.sync(() => {
          for (const { project_id, removed_at, swept } of removedProjects.values())
            if (swept && removed_at < before) removedProjects.delete(project_id)
        })
    })
  })
)

const immediately = Timestamp.make(0)
const notFound = new NotFound({ resource: "project" })
const taken = new Taken({ what: "project name" })
