/**
 * Live builds: for development, where every upload serves at once.
 *
 * While a project has one it takes the deployed build's place for all triggers. The next live upload replaces it, its
 * end brings the deployed build back. Former live builds stay stored, since runs and retries of theirs may go on.
 */
import { Effect } from "effect"
import type { Caller } from "../access/Caller.ts"
import { type Forbidden, NotFound, type StoreUnavailable } from "../errors/Errors.ts"
import { now } from "../ids/Timestamp.ts"
import { namedProject } from "../projects/NamedProject.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import type { Build } from "./Build.ts"
import { BuildStore } from "./BuildStore.ts"
import { Deployments } from "./Deployments.ts"

type Failed = Forbidden | NotFound | StoreUnavailable

export interface LiveBuilds {
  readonly live: (project: string) => Effect.Effect<Build, Failed, Caller>
  readonly endLive: (project: string) => Effect.Effect<void, Failed, Caller>
}

export const makeLiveBuilds = Effect.gen(function* () {
  const store = yield* BuildStore
  const projects = yield* ProjectStore
  const deployments = yield* Deployments

  return {
    live: Effect.fnUntraced(function* (idOrName) {
      const { project } = yield* namedProject(projects, idOrName, "build", "read")
      const { build } = yield* orNoLive(store.live(project.env_id, project.project_id))
      return build
    }),

    // Whoever goes away in the middle leaves no node with an old snapshot.
    endLive: Effect.fnUntraced(function* (idOrName) {
      const { project } = yield* namedProject(projects, idOrName, "build", "execute")
      yield* orNoLive(store.endLive(project.env_id, project.project_id, yield* now))
      yield* deployments.changed(project.env_id)
    }, Effect.uninterruptible)
  } satisfies LiveBuilds
})

const orNoLive = <A, E>(found: Effect.Effect<A, E | NotFound>) =>
  Effect.catchTag(found, "NotFound", () => Effect.fail(new NotFound({ resource: "live build" })))
