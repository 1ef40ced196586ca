/**
 * Artifacts that the sandbox compiled from builds, stored next to their zips.
 *
 * An artifact is a cache: if it is missing, it is compiled again from the zip.
 */
import { Cache, Context, Effect, Layer } from "effect"
import { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { BuildId, EnvId, ProjectId } from "../../foundation/Ids.ts"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { type BundleRef, Sandbox } from "../../platform/sandbox/Sandbox.ts"
import { BuildStore } from "./BuildStore.ts"
import { BuildZips } from "./BuildZips.ts"
import { PreparationQueue } from "./PreparationQueue.ts"

/** Ids of a build. */
export interface BuildRef {
  readonly env_id: EnvId
  readonly project_id: ProjectId
  readonly build_id: BuildId
}

/** Returns the blob key of a build's artifact. */
export const artifactKey = (build: BuildRef): string =>
  `builds/${build.env_id}/${build.project_id}/${build.build_id}.artifact`

export class Artifacts extends Context.Service<
  Artifacts,
  {
    /** Returns the reference of the build for invocations. The sandbox reads the artifact when it needs it. */
    readonly ref: (build: BuildRef) => BundleRef
    /**
     * Compiles the artifact again from the zip and stores it. Used if the artifact is missing, or if the sandbox rejects
     * it because another engine version or key produced it. Concurrent calls for one build share one compilation.
     */
    readonly renew: (build: BuildRef) => Effect.Effect<Uint8Array, NotFound | StoreUnavailable>
  }
>()("@weft/core/resources/builds/Artifacts") {
  static readonly layer: Layer.Layer<
    Artifacts,
    never,
    BlobStore | BuildStore | BuildZips | PreparationQueue | Sandbox
  > = Layer.effect(
    Artifacts,
    Effect.gen(function* () {
      const blobs = yield* BlobStore
      const builds = yield* BuildStore
      const zips = yield* BuildZips
      const sandbox = yield* Sandbox
      const queue = yield* PreparationQueue

      const regenerate = Effect.fnUntraced(function* (ref: BuildRef) {
        const build = yield* builds.get(ref.env_id, ref.build_id, ref.project_id)
        // A missing or damaged zip is `StoreUnavailable`, because the build exists and the blobs may be restored.
        const zip = Effect.mapError(
          zips.get(build),
          (cause) => new StoreUnavailable({ operation: `zip of build ${ref.build_id}`, cause })
        )
        const { artifact } = yield* queue.withTurn(ref.env_id)(Effect.flatMap(zip, sandbox.prepare))
        // If this fails, the next caller compiles it again.
        yield* Effect.ignore(blobs.put(artifactKey(ref), artifact), { log: "Warn" })
        return artifact
      })

      // Shares compilations in flight without caching results: sandboxes have their own caches.
      const inFlight = yield* Cache.makeWith(regenerate, {
        capacity: Number.POSITIVE_INFINITY,
        timeToLive: () => 0
      })
      const renew = ({ env_id, project_id, build_id }: BuildRef) =>
        Effect.mapError(Cache.get(inFlight, { env_id, project_id, build_id }), (cause) =>
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
