/** Projects of the caller's environment. Permission first, then the rules, then the store. */
import { Context, Effect, Layer, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import { type Caller, requirePermission } from "../access/Caller.ts"
import { readable } from "../access/Permission.ts"
import { BadRequest, type Forbidden, type NotFound, type StoreUnavailable, type Taken } from "../errors/Errors.ts"
import { freshIds, ProjectId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import { now } from "../ids/Timestamp.ts"
import { namedProject } from "./NamedProject.ts"
import { Project, ProjectName } from "./Project.ts"
import { ProjectContents } from "./ProjectContents.ts"
import { ProjectStore } from "./ProjectStore.ts"

type Denied = Forbidden | StoreUnavailable

export class Projects extends Context.Service<
  Projects,
  {
    /** Newest first; only projects that the caller may read. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Project>, Denied, Caller>
    /** Needs `project: create` on the name. `BadRequest` when the name is not one or is in use. */
    readonly create: (input: { readonly name: string }) => Effect.Effect<Project, Denied | BadRequest, Caller>
    /** By id or by name; who may do what: see `namedProject`. */
    readonly get: (idOrName: string) => Effect.Effect<Project, Denied | NotFound, Caller>
    readonly update: (
      idOrName: string,
      change: { readonly name: string }
    ) => Effect.Effect<Project, Denied | NotFound | BadRequest, Caller>
    /** Removes the project with its builds and all that it serves. Its runs and events stay. */
    readonly remove: (idOrName: string) => Effect.Effect<void, Denied | NotFound, Caller>
  }
>()("@weft/core/projects/Projects") {
  static readonly layer: Layer.Layer<Projects, never, ProjectStore | ProjectContents | SecureRandom.SecureRandom> =
    Layer.effect(
      Projects,
      Effect.gen(function* () {
        const store = yield* ProjectStore
        const contents = yield* ProjectContents
        const freshId = yield* freshIds

        return Projects.of({
          list: Effect.fnUntraced(function* (page) {
            const caller = yield* requirePermission("project", [], "read")
            const only = readable(caller.permissions, "project", "read")
            return yield* store.list(caller.env_id, page, only === "all" ? undefined : only)
          }),

          create: Effect.fnUntraced(function* (input) {
            const caller = yield* requirePermission("project", input.name, "create")
            yield* checkName(input.name)
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

          get: (idOrName) => Effect.map(namedProject(store, idOrName, "project", "read"), ({ project }) => project),

          update: Effect.fnUntraced(function* (idOrName, change) {
            const { project: old } = yield* namedProject(store, idOrName, "project", "update", checkName(change.name))
            const project = new Project({ ...old, name: change.name, updated_at: yield* now })
            yield* store
              .update(project)
              .pipe(Effect.catchTag("Taken", refuse), Effect.ensuring(contents.renamed(project)))
            return project
          }),

          remove: Effect.fnUntraced(function* (idOrName) {
            const { project } = yield* namedProject(store, idOrName, "project", "delete")
            const clearAway = yield* contents.detach(project)
            yield* Effect.uninterruptible(Effect.andThen(store.remove(project.env_id, project.project_id), clearAway))
          })
        })
      })
    )
}

const isProjectName = Schema.is(ProjectName)

const checkName = (name: string): Effect.Effect<void, BadRequest> =>
  isProjectName(name) ? Effect.void : Effect.fail(badName)

const badName = new BadRequest({
  reason: "name must have 1 to 128 characters, no slash and no control characters, and not be shaped like a UUID"
})

const refuse = (taken: Taken) => Effect.fail(new BadRequest({ reason: taken.message }))
