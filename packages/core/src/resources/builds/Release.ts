/** Releases a build from quarantine, on request of its owner or of the host. */
import { Effect } from "effect"
import type { Forbidden, NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { resolveProject } from "../projects/resolveProject.ts"
import { BuildStore } from "./BuildStore.ts"
import { toBuildId } from "./Deploy.ts"
import { Quarantines } from "./Quarantines.ts"

export type Release = (
  project: string,
  buildId: string
) => Effect.Effect<void, Forbidden | NotFound | StoreUnavailable, Caller>

/** Releases a build for the host, without a check of permissions. */
export type ReleaseForHost = (envId: EnvId, buildId: string) => Effect.Effect<void, NotFound | StoreUnavailable>

export const makeReleaseForHost = Effect.gen(function* () {
  const store = yield* BuildStore
  const quarantines = yield* Quarantines

  return Effect.fnUntraced(function* (envId, buildId) {
    yield* quarantines.release(yield* store.get(envId, yield* toBuildId(buildId)))
  }) satisfies ReleaseForHost
})

export const makeRelease = Effect.gen(function* () {
  const store = yield* BuildStore
  const projects = yield* ProjectStore
  const quarantines = yield* Quarantines

  return Effect.fnUntraced(function* (idOrName, buildId) {
    const { project } = yield* resolveProject(projects, idOrName, "build", "execute")
    yield* quarantines.release(yield* store.get(project.env_id, yield* toBuildId(buildId), project.project_id))
  }) satisfies Release
})
