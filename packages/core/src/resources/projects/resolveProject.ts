/**
 * Finds the project in the path of a request and checks the caller's permission (decisions section 3).
 *
 * Permissions and requests each refer to a project by its id or its name. They may differ in that, so the project is
 * loaded before the permission is decided:
 *
 * | permissions of the caller                      | existing project | no such project |
 * |------------------------------------------------|------------------|-----------------|
 * | none of the type                               | 403              | 403             |
 * | the id or name of the project, or all projects | the project      | -               |
 * | the text of the request, or all projects       | the project      | 404             |
 * | other projects only                            | 403              | 403             |
 *
 * Therefore a caller without permission cannot find out which projects exist.
 */
import { Effect, Schema } from "effect"
import { type Forbidden, NotFound } from "../../foundation/Errors.ts"
import { toIdOrName } from "../../foundation/IdOrName.ts"
import { isUuid } from "../../foundation/Ids.ts"
import { forbidden, type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import { type Action, allows, type ResourceType } from "../../tenants/access/Permission.ts"
import { type Project, ProjectName } from "./Project.ts"
import type { ProjectStore } from "./ProjectStore.ts"

export interface ResolvedProject {
  readonly caller: Identity
  readonly project: Project
}

const isProjectName = Schema.is(ProjectName)

const noSuchProject = Effect.fail(new NotFound({ resource: "project" }))

/**
 * Returns the current caller and the project of its environment. Fails unless the caller holds `action` on the project's
 * `type`.
 *
 * `shape` checks the rest of the request, including further permissions. Its errors come after a missing permission and
 * before a missing project.
 */
export const resolveProject = Effect.fnUntraced(function* <E = never, R = never>(
  store: ProjectStore["Service"],
  idOrName: string,
  type: ResourceType,
  action: Action,
  shape: Effect.Effect<unknown, E, R> = Effect.void
) {
  const caller = yield* requirePermission(type, [], action)
  const named = toIdOrName(idOrName)
  const mayActOn = (path: string) => allows(caller.permissions, type, path, action)
  const refuse = (error: NotFound): Effect.Effect<never, NotFound | Forbidden | E, R> =>
    mayActOn(named) ? Effect.andThen(shape, Effect.fail(error)) : Effect.fail(forbidden(type, named, action))
  // Does not query the store for an invalid name.
  const found = isUuid(named) || isProjectName(named) ? store.get(caller.env_id, named) : noSuchProject
  const project = yield* Effect.catchTag(found, "NotFound", refuse)
  if (!mayActOn(project.project_id) && !mayActOn(project.name)) return yield* forbidden(type, named, action)
  yield* shape
  return { caller, project } satisfies ResolvedProject
})
