/** `ContextVariableStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound, Taken } from "../foundation/Errors.ts"
import type { EnvId, ProjectId } from "../foundation/Ids.ts"
import { ContextVariable, contextPlace } from "../resources/secrets/ContextVariable.ts"
import { ContextVariableStore } from "../resources/secrets/ContextVariableStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<ContextVariableStore, never, MemoryDatabase> = Layer.effect(
  ContextVariableStore,
  Effect.gen(function* () {
    const { contextVariables, projects } = yield* MemoryDatabase

    const find = (envId: EnvId, projectId: ProjectId, key: string) =>
      Effect.suspend(() => {
        const found = contextVariables.get(contextPlace(projectId, key).id)
        return found?.env_id === envId ? Effect.succeed(found) : Effect.fail(notFound)
      })

    const store = (variable: ContextVariable) =>
      void contextVariables.set(contextPlace(variable.project_id, variable.key).id, variable)

    const ofProject = (envId: EnvId, projectId: ProjectId) =>
      [...contextVariables.values()]
        .filter((variable) => variable.env_id === envId && variable.project_id === projectId)
        .sort((a, b) => compareText(a.key, b.key))

    return ContextVariableStore.of({
      insert: (variable) =>
        Effect.suspend((): Effect.Effect<void, NotFound | Taken> => {
          if (projects.get(variable.project_id)?.env_id !== variable.env_id) return Effect.fail(noProject)
          if (contextVariables.has(contextPlace(variable.project_id, variable.key).id)) return Effect.fail(taken)
          store(variable)
          return Effect.void
        }),

      get: find,
      list: (envId, projectId, page) => Effect.sync(() => toPage(ofProject(envId, projectId), page)),
      all: (envId, projectId) => Effect.sync(() => ofProject(envId, projectId)),

      update: (envId, projectId, key, change) =>
        Effect.map(find(envId, projectId, key), (old) => {
          const changed = new ContextVariable({ ...old, ...change })
          store(changed)
          return changed
        }),

      remove: (envId, projectId, key) =>
        Effect.map(find(envId, projectId, key), () => void contextVariables.delete(contextPlace(projectId, key).id))
    })
  })
)

const notFound = new NotFound({ resource: "context variable" })
const noProject = new NotFound({ resource: "project" })
const taken = new Taken({ what: "context key" })
