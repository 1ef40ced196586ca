/** Removes a project with its contents, as a whole: its triggers stop first. */
import { Effect } from "effect"
import { now } from "../../foundation/time/Timestamp.ts"
import type { Project } from "./Project.ts"
import { ProjectContents } from "./ProjectContents.ts"
import { ProjectStore } from "./ProjectStore.ts"

/** Returns a function that removes a project. `NotFound` if it was removed before. */
export const makeRemoveProject = Effect.gen(function* () {
  const store = yield* ProjectStore
  const contents = yield* ProjectContents
  return Effect.fnUntraced(function* (project: Project) {
    const removeContents = yield* contents.detach(project)
    yield* Effect.uninterruptible(
      Effect.andThen(store.remove(project.env_id, project.project_id, yield* now), removeContents)
    )
  })
})
