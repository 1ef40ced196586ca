/** Effects of removing and renaming a project on its builds. */
import { Effect, Layer } from "effect"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { FileStore } from "../files/FileStore.ts"
import type { Project } from "../projects/Project.ts"
import { ProjectContents } from "../projects/ProjectContents.ts"
import { artifactKey } from "./Artifacts.ts"
import type { Build } from "./Build.ts"
import { BuildStore } from "./BuildStore.ts"
import { Deployments } from "./Deployments.ts"

const pageSize = 100

export const layer: Layer.Layer<ProjectContents, never, BuildStore | BlobStore | FileStore | Deployments> =
  Layer.effect(
    ProjectContents,
    Effect.gen(function* () {
      const store = yield* BuildStore
      const blobs = yield* BlobStore
      const files = yield* FileStore
      const deployments = yield* Deployments

      const listBuilds = Effect.fnUntraced(function* (project: Project) {
        const builds: Array<Build> = []
        for (;;) {
          const page = { limit: pageSize, offset: builds.length }
          const { items } = yield* store.list(project.env_id, page, { projectId: project.project_id })
          builds.push(...items)
          if (items.length < pageSize) return builds
        }
      })

      const removeBlobs = (builds: ReadonlyArray<Build>) =>
        Effect.forEach(
          builds.flatMap((build) => [build.storage_path, artifactKey(build)]),
          (key) =>
            Effect.andThen(blobs.remove(key), files.release([key])).pipe(
              Effect.ignore({
                log: "Warn",
                message: `The blob ${key} could not be removed; the janitor will remove it`
              })
            ),
          { concurrency: 4, discard: true }
        )

      return ProjectContents.of({
        renamed: (project) => deployments.changed(project.env_id),
        detach: (project) =>
          Effect.map(listBuilds(project), (builds) =>
            Effect.andThen(deployments.changed(project.env_id), removeBlobs(builds))
          )
      })
    })
  )
