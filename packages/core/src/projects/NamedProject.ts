/**
 * The project that a request names, and whether its caller may do what it wants there.
 *
 * The rule for every request with a project in its path (decisions section 3). Permissions name a project by
 * its id or by its name, requests too, and not always the same way, so the project is loaded first:
 *
 * | the caller may act on                          | project is there | it is not |
 * |------------------------------------------------|------------------|-----------|
 * | nothing of the type                            | 403              | 403       |
 * | its id or its name (or every project)          | the project      | -         |
 * | what the request says (or every project)       | the project      | 404       |
 * | other projects only                            | 403              | 403       |
 *
 * So a caller learns nothing about projects that it may not see, not even whether they exist.
 */
import { Effect, Schema } from "effect"
import { forbidden, type Identity, requirePermission } from "../access/Caller.ts"
import { type Action, allows, type ResourceType } from "../access/Permission.ts"
import { type Forbidden, NotFound } from "../errors/Errors.ts"
import { toIdOrName } from "../ids/IdOrName.ts"
import { isUuid } from "../ids/Ids.ts"
import { type Project, ProjectName } from "./Project.ts"
import type { ProjectStore } from "./ProjectStore.ts"

export interface NamedProject {
  readonly caller: Identity
  readonly project: Project
}

const isProjectName = Schema.is(ProjectName)

const noSuchProject = Effect.fail(new NotFound({ resource: "project" }))

/**
 * The current caller and the project of its environment, when it may do `action` on the project's `type`.
 *
 * `shape` checks the rest of the request, any further permission first: bad input counts after lacking permission, but
 * before a missing project.
 */
export const namedProject = Effect.fnUntraced(function* <E = never, R = never>(
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
  // What cannot be a name is not looked for.
  const found = isUuid(named) || isProjectName(named) ? store.get(caller.env_id, named) : noSuchProject
  const project = yield* Effect.catchTag(found, "NotFound", refuse)
  if (!mayActOn(project.project_id) && !mayActOn(project.name)) return yield* forbidden(type, named, action)
  yield* shape
  return { caller, project } satisfies NamedProject
})
