/** The removal of a preview: first its triggers stop, then any node deletes its rows. */
import { Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import { addMillis, now } from "../../foundation/time/Timestamp.ts"
import { Tenants } from "../../tenants/orgs/Tenants.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { makeRemoveProject } from "../projects/removeProject.ts"
import type { Preview } from "./Preview.ts"
import { PreviewStore } from "./PreviewStore.ts"

/**
 * Time after the removal in which rows may still arrive, in milliseconds. It exceeds the time after which the removal of a
 * project is complete.
 */
const settlingMs = 660_000

/** Maximum projects per query. A host may have added some. */
const pageSize = 100

export interface PreviewEnd {
  /** Ends the preview on all nodes. Its name is free at once. `NotFound` if it was removed before. */
  readonly end: (preview: Preview) => Effect.Effect<void, NotFound | StoreUnavailable>
  /** Removes the projects of an environment. Their runs are cancelled, and their deliveries discarded. */
  readonly removeProjects: (envId: EnvId) => Effect.Effect<void, StoreUnavailable>
}

export const makePreviewEnd = Effect.gen(function* () {
  const store = yield* PreviewStore
  const projects = yield* ProjectStore
  const removeProject = yield* makeRemoveProject
  const tenants = yield* Tenants

  const removeProjects = Effect.fnUntraced(function* (envId: EnvId): Effect.fn.Return<void, StoreUnavailable> {
    const { items } = yield* projects.list(envId, { limit: pageSize, offset: 0 })
    for (const project of items) {
      yield* Effect.catchTag(removeProject(project), "NotFound", () => Effect.void)
    }
  })

  const end = Effect.fnUntraced(function* (preview: Preview): Effect.fn.Return<void, NotFound | StoreUnavailable> {
    const at = yield* now
    yield* store.remove(preview, at, addMillis(at, settlingMs))
    yield* tenants.changed
    yield* removeProjects(preview.env_id)
  }, Effect.uninterruptible)

  return { end, removeProjects } satisfies PreviewEnd
})
