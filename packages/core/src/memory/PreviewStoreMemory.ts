/** `PreviewStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { EnvId, ProjectId } from "../foundation/Ids.ts"
import type { Preview } from "../resources/previews/Preview.ts"
import { PreviewStore } from "../resources/previews/PreviewStore.ts"
import { Env } from "../tenants/orgs/Tenant.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<PreviewStore, never, MemoryDatabase> = Layer.effect(
  PreviewStore,
  Effect.gen(function* () {
    const db = yield* MemoryDatabase

    const listActive = (parentEnvId: EnvId, projectId?: ProjectId): ReadonlyArray<Preview> =>
      [...db.previews.values()]
        .filter(({ removed_at }) => removed_at === null)
        .map(({ preview }) => preview)
        .filter(
          ({ parent_env_id, project_id }) =>
            parent_env_id === parentEnvId && (projectId === undefined || project_id === projectId)
        )
        .sort((a, b) => compareText(b.env_id, a.env_id))

    const findActive = (envId: EnvId, parentEnvId: EnvId) => {
      const row = db.previews.get(envId)
      return row?.preview.parent_env_id === parentEnvId && row.removed_at === null ? row : undefined
    }

    const changeEnv = (envId: EnvId, change: (env: Env) => Partial<Env>) => {
      const env = db.envs.get(envId)
      if (env !== undefined) db.envs.set(envId, new Env({ ...env, ...change(env) }))
    }

    return PreviewStore.of({
      insert: ({ preview, env, project }, { ofEnv, ofProject }) =>
        Effect.sync(() => {
          const active = listActive(preview.parent_env_id)
          if (active.some(({ name }) => name === preview.name)) return "NameTaken"
          if (ofEnv !== -1 && active.length >= ofEnv) return "OverEnvLimit"
          const ofSame = active.filter(({ project_id }) => project_id === preview.project_id)
          if (ofProject !== -1 && ofSame.length >= ofProject) return "OverProjectLimit"
          db.envs.set(env.env_id, env)
          db.projects.set(project.project_id, project)
          db.previews.set(preview.env_id, { preview, removed_at: null, due_at: preview.expires_at })
          return "Stored"
        }),

      get: (parentEnvId, name) =>
        Effect.suspend(() => {
          const found = listActive(parentEnvId).find((preview) => preview.name === name)
          return found === undefined ? Effect.fail(notFound) : Effect.succeed(found)
        }),

      list: (parentEnvId, projectId, page) => Effect.sync(() => toPage(listActive(parentEnvId, projectId), page)),

      update: (preview) =>
        Effect.suspend(() => {
          const row = findActive(preview.env_id, preview.parent_env_id)
          if (row === undefined) return Effect.fail(notFound)
          const { build_id, schedules, copy_events, secrets, updated_at, expires_at } = preview
          const changed = { ...row.preview, build_id, schedules, copy_events, secrets, updated_at, expires_at }
          db.previews.set(preview.env_id, { preview: changed, removed_at: null, due_at: expires_at })
          changeEnv(preview.env_id, (env) =>
            env.preview === undefined ? {} : { preview: { ...env.preview, secrets } }
          )
          return Effect.void
        }),

      remove: ({ env_id, parent_env_id }, at, dueAt) =>
        Effect.suspend(() => {
          const row = findActive(env_id, parent_env_id)
          if (row === undefined) return Effect.fail(notFound)
          db.previews.set(env_id, { ...row, removed_at: at, due_at: dueAt })
          changeEnv(env_id, () => ({ active: false, name: `~${env_id}` }))
          return Effect.void
        }),

      due: (which, now, limit) =>
        Effect.sync(() =>
          [...db.previews.values()]
            .filter(({ due_at, removed_at }) => due_at <= now && (removed_at === null) === (which === "expired"))
            .sort((a, b) => a.due_at - b.due_at || compareText(a.preview.env_id, b.preview.env_id))
            .slice(0, limit)
            .map(({ preview }) => preview)
        ),

      postpone: (envId, dueAt) =>
        Effect.sync(() => {
          const row = db.previews.get(envId)
          if (row !== undefined && row.removed_at !== null) db.previews.set(envId, { ...row, due_at: dueAt })
        }),

      purge: (envId, now) =>
        Effect.sync(() => {
          if ((db.previews.get(envId)?.removed_at ?? null) === null) return "Waiting"
          if ([...db.projects.values()].some(({ env_id }) => env_id === envId)) return "Waiting"
          if ([...db.removedProjects.values()].some(({ env_id, swept }) => env_id === envId && !swept)) return "Waiting"
          purgeRows(db, envId)
          for (const [id, { upload, parts }] of db.uploads)
            if (upload.env_id === envId) db.uploads.set(id, { upload: { ...upload, expires_at: now }, parts })
          const remaining = [
            ...[...db.runs.values(), ...db.files.values()],
            ...[...db.uploads.values()].map(({ upload }) => upload)
          ]
          return remaining.some(({ env_id }) => env_id === envId) ? "Waiting" : "Empty"
        }),

      forget: ({ env_id, parent_env_id }) =>
        Effect.sync(() => {
          if ((db.previews.get(env_id)?.removed_at ?? null) === null) return
          for (const [index, run] of db.removedRuns.entries())
            if (run.env_id === env_id) db.removedRuns[index] = { ...run, env_id: parent_env_id }
          db.previews.delete(env_id)
          db.envs.delete(env_id)
        })
    })
  })
)

const notFound = new NotFound({ resource: "preview" })

/** Deletes all rows of an environment except runs, with what belongs to them, files and uploads. */
const purgeRows = (db: MemoryDatabase["Service"], envId: EnvId): void => {
  const isOfEnv = (row: { readonly env_id: EnvId | null }) => row.env_id === envId
  deleteRows(db.apiKeys, isOfEnv)
  deleteRows(db.sessions, isOfEnv)
  deleteRows(db.serviceKeys, isOfEnv)
  deleteRows(db.schedules, isOfEnv)
  deleteRows(db.events, isOfEnv)
  deleteRows(db.pauses, isOfEnv)
  deleteRows(db.alerts, isOfEnv)
  deleteRows(db.series, isOfEnv)
  deleteRows(db.deliveries, ({ delivery }) => isOfEnv(delivery))
  deleteRows(db.operations, ({ operation }) => isOfEnv(operation))
  deleteRows(db.canaries, ({ canary }) => isOfEnv(canary))
  for (const key of db.once.keys()) if (key.startsWith(`${envId} `)) db.once.delete(key)
  for (const key of db.flowStates.keys()) if (key.startsWith(`${envId} `)) db.flowStates.delete(key)
}

const deleteRows = <K, A>(table: Map<K, A>, isDeleted: (row: A) => boolean): void => {
  for (const [key, row] of table) if (isDeleted(row)) table.delete(key)
}
