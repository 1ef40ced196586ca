/** Projects of the caller's environment. Methods check the permission first, then the input, then use the store. */
import { Context, Effect, Layer, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import {
  BadRequest,
  type Forbidden,
  type NotFound,
  type StoreUnavailable,
  type Taken
} from "../../foundation/Errors.ts"
import { freshIds, ProjectId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { now } from "../../foundation/time/Timestamp.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import { NewProjectName, Project, ProjectName } from "./Project.ts"
import { ProjectContents } from "./ProjectContents.ts"
import { ProjectStore } from "./ProjectStore.ts"
import { makeRemoveProject } from "./removeProject.ts"
import { resolveProject } from "./resolveProject.ts"

type Denied = Forbidden | StoreUnavailable

export class Projects extends Context.Service<
  Projects,
  {
    /** Lists the projects that the caller may read, newest first. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Project>, Denied, Caller>
    /** Creates a project. Needs `project: create` on the name. `BadRequest` if the name is invalid or in use. */
    readonly create: (input: { readonly name: string }) => Effect.Effect<Project, Denied | BadRequest, Caller>
    /** Returns a project by id or name. `resolveProject` describes the permission checks. */
    readonly get: (idOrName: string) => Effect.Effect<Project, Denied | NotFound, Caller>
    readonly update: (
      idOrName: string,
      change: { readonly name: string }
    ) => Effect.Effect<Project, Denied | NotFound | BadRequest, Caller>
    /**
     * Removes the project with its builds, schedules and endpoints. Ends its running runs as `cancelled` and discards its
     * deliveries, mostly at once, and nothing of it starts from now on. Keeps its runs and events.
     */
    readonly remove: (idOrName: string) => Effect.Effect<void, Denied | NotFound, Caller>
  }
>()("@weft/core/resources/projects/Projects") {
  static readonly layer: Layer.Layer<Projects, never, ProjectStore | ProjectContents | SecureRandom.SecureRandom> =
    Layer.effect(
      Projects,
      Effect.gen(function* () {
        const store = yield* ProjectStore
        const contents = yield* ProjectContents
        const removeProject = yield* makeRemoveProject
        const freshId = yield* freshIds

        return Projects.of({
          list: Effect.fnUntraced(function* (page) {
            const caller = yield* requirePermission("project", [], "read")
            const only = readable(caller.permissions, "project", "read")
            return yield* store.list(caller.env_id, page, only === "all" ? undefined : only)
          }),

          create: Effect.fnUntraced(function* (input) {
            const caller = yield* requirePermission("project", input.name, "create")
            yield* checkNewName(input.name)
            const instant = yield* now
            const project = new Project({
              project_id: yield* freshId(ProjectId),
              env_id: caller.env_id,
              name: input.name,
              active: true,
              created_at: instant,
              updated_at: instant
            })
            yield* store.insert(project).pipe(Effect.catchTag("Taken", refuse))
            return project
          }),

          get: (idOrName) => Effect.map(resolveProject(store, idOrName, "project", "read"), ({ project }) => project),

          update: Effect.fnUntraced(function* (idOrName, change) {
            const { project: old } = yield* resolveProject(store, idOrName, "project", "update", checkName(change.name))
            // A project keeps the name that a former release accepted.
            if (change.name !== old.name) yield* checkNewName(change.name)
            const project = new Project({ ...old, name: change.name, updated_at: yield* now })
            yield* store
              .update(project)
              .pipe(Effect.catchTag("Taken", refuse), Effect.ensuring(contents.renamed(project)))
            return project
          }),

          remove: Effect.fnUntraced(function* (idOrName) {
            const { project } = yield* resolveProject(store, idOrName, "project", "delete")
            yield* removeProject(project)
          })
        })
      })
    )
}

const isProjectName = Schema.is(ProjectName)
const isNewProjectName = Schema.is(NewProjectName)

const checkName = (name: string): Effect.Effect<void, BadRequest> =>
  isProjectName(name) ? Effect.void : Effect.fail(badName)

const checkNewName = (name: string): Effect.Effect<void, BadRequest> =>
  isNewProjectName(name) ? Effect.void : Effect.fail(badName)

const badName = new BadRequest({
  reason:
    "name must have 1 to 128 letters, digits, spaces, dots, underscores and hyphens. It must begin with a letter, a digit or an underscore, not end with a space, and not be shaped like a UUID"
})

const refuse = (taken: Taken) => Effect.fail(new BadRequest({ reason: taken.message }))
