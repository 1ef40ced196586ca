/**
 * Live builds, which become active at their upload, for development.
 *
 * A live build replaces the project's deployed build for all triggers, until the next live upload or until it is ended.
 * Previous live builds remain stored, because their runs and retries may continue.
 */
import { Effect } from "effect"
import { type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import { now } from "../../foundation/time/Timestamp.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { resolveProject } from "../projects/resolveProject.ts"
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
      const { project } = yield* resolveProject(projects, idOrName, "build", "read")
      const { build } = yield* orNoLive(store.live(project.env_id, project.project_id))
      return build
    }),

    // Uninterruptible, so that no node keeps an outdated snapshot.
    endLive: Effect.fnUntraced(function* (idOrName) {
      const { project } = yield* resolveProject(projects, idOrName, "build", "execute")
      yield* orNoLive(store.endLive(project.env_id, project.project_id, yield* now))
      yield* deployments.changed(project.env_id)
    }, Effect.uninterruptible)
  } satisfies LiveBuilds
})

const orNoLive = <A, E>(found: Effect.Effect<A, E | NotFound>) =>
  Effect.catchTag(found, "NotFound", () => Effect.fail(new NotFound({ resource: "live build" })))
