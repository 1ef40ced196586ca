/**
 * What the sandbox made of builds: kept beside the zip, and made again from it when it is not there.
 *
 * An artifact is a cache. Its loss costs a preparation, never a build.
 */
import { Cache, Context, Effect, Layer } from "effect"
import { BlobStore } from "../blobs/BlobStore.ts"
import { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import type { BuildId, EnvId, ProjectId } from "../ids/Ids.ts"
import { type BundleRef, Sandbox } from "../sandbox/Sandbox.ts"
import { BuildStore } from "./BuildStore.ts"

/** What names a build. */
export interface BuildRef {
  readonly env_id: EnvId
  readonly project_id: ProjectId
  readonly build_id: BuildId
}

/** The key of what the sandbox made of a build. */
export const artifactKey = (build: BuildRef): string =>
  `builds/${build.env_id}/${build.project_id}/${build.build_id}.artifact`

export class Artifacts extends Context.Service<
  Artifacts,
  {
    /** The build as invocations name it. Costs nothing; its artifact is read when the sandbox asks. */
    readonly ref: (build: BuildRef) => BundleRef
    /**
     * Makes the artifact again from the zip and keeps it: for one that is gone, or that the sandbox refuses
     * because another engine, or one with another key, made it. Concurrent calls for one build share the work.
     */
    readonly renew: (build: BuildRef) => Effect.Effect<Uint8Array, NotFound | StoreUnavailable>
  }
>()("@weft/core/builds/Artifacts") {
  static readonly layer: Layer.Layer<Artifacts, never, BlobStore | BuildStore | Sandbox> = Layer.effect(
    Artifacts,
    Effect.gen(function* () {
      const blobs = yield* BlobStore
      const builds = yield* BuildStore
      const sandbox = yield* Sandbox

      const prepareAgain = Effect.fnUntraced(function* (ref: BuildRef) {
        const build = yield* builds.get(ref.env_id, ref.build_id, ref.project_id)
        // A build without its zip is not a build that is gone: somebody may bring the blobs back.
        const zip = yield* Effect.mapError(
          blobs.get(build.storage_path),
          (cause) => new StoreUnavailable({ operation: `zip of build ${ref.build_id}`, cause })
        )
        const { artifact } = yield* sandbox.prepare(zip)
        // Whoever comes next makes it once more.
        yield* Effect.ignore(blobs.put(artifactKey(ref), artifact), { log: "Warn" })
        return artifact
      })

      // Shares work that is under way and keeps nothing: sandboxes keep what they need.
      const underWay = yield* Cache.makeWith(prepareAgain, {
        capacity: Number.POSITIVE_INFINITY,
        timeToLive: () => 0
      })
      const renew = ({ env_id, project_id, build_id }: BuildRef) =>
        Effect.mapError(Cache.get(underWay, { env_id, project_id, build_id }), (cause) =>
          cause._tag === "NotFound"
            ? new NotFound({ resource: "build" })
            : new StoreUnavailable({ operation: `artifact of build ${build_id}`, cause })
        )

      return Artifacts.of({
        ref: (build) => ({
          env_id: build.env_id,
          build_id: build.build_id,
          artifact: Effect.suspend(() =>
            Effect.catchTag(blobs.get(artifactKey(build)), "NotFound", () => renew(build))
          ),
          renewed: Effect.suspend(() => renew(build))
        }),
        renew
      })
    })
  )
}
