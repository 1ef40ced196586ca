/** The target of a request: a function, a project, or without both the environment. */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import type { ProjectId } from "../../foundation/Ids.ts"
import { ProjectStore } from "../../resources/projects/ProjectStore.ts"
import { resolveProject } from "../../resources/projects/resolveProject.ts"
import { requirePermission } from "../../tenants/access/Caller.ts"
import type { Action, ResourceType } from "../../tenants/access/Permission.ts"

export interface SentTarget {
  /** Id or name of a project. Without it, the environment is meant. */
  readonly project?: string | undefined
  /** A function of the project: `ns/var`. With `project:ns/var`, `project` is left out. */
  readonly fn?: string | undefined
}

export interface Target {
  /** Null for the environment. */
  readonly project_id: ProjectId | null
  readonly project_name: string | null
  /** Namespace of the function; null for a project or the environment. */
  readonly ns: string | null
  readonly var: string | null
}

/**
 * Returns a function that finds what a request is about, and checks the permission. `onEnv` are the paths of the permission
 * that the environment requires: `*` for all projects.
 */
export const makeResolveTarget = (type: ResourceType, action: Action, onEnv: "*" | ReadonlyArray<string>) =>
  Effect.map(ProjectStore, (projects) =>
    Effect.fnUntraced(function* ({ project, fn }: SentTarget) {
      const [, prefix, ns, name] = fn === undefined ? [] : (functionForm.exec(fn) ?? [])
      const shape = checkShape({ project, fn, prefix, ns })
      const named = project ?? prefix
      if (named === undefined) {
        const caller = yield* requirePermission(type, onEnv, action)
        yield* shape
        const target: Target = { project_id: null, project_name: null, ns: null, var: null }
        return { caller, target }
      }
      const found = yield* resolveProject(projects, named, type, action, shape)
      const { project_id, name: project_name } = found.project
      const target: Target = { project_id, project_name, ns: ns ?? null, var: name ?? null }
      return { caller: found.caller, target }
    })
  )

const functionForm = /^(?:([^\s:/]{1,100}):)?([\w$]{1,200})\/([\w$]{1,200})$/

interface Parts extends SentTarget {
  readonly prefix: string | undefined
  readonly ns: string | undefined
}

/** Fails if the fields contradict each other. */
const checkShape = ({ project, fn, prefix, ns }: Parts): Effect.Effect<void, BadRequest> => {
  if (fn === undefined) return Effect.void
  if (ns === undefined) return refuse("fn must be a function: ns/var with project, or project:ns/var")
  if ((project === undefined) === (prefix === undefined))
    return refuse("fn needs exactly one project: give project and ns/var, or project:ns/var")
  return Effect.void
}

const refuse = (reason: string) => Effect.fail(new BadRequest({ reason }))
