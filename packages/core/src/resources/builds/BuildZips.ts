/** Reads the zips of builds. A zip that is read completely is verified by its hash, so damaged code never runs. */
import { Context, Effect, Layer, type Scope, type Stream } from "effect"
import { Digest } from "effect/crypto"
import { type ContentDamaged, type NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import { BlobStore, type ByteRange } from "../../platform/blobs/BlobStore.ts"
import { DamageReports, failDamaged } from "../files/DamageReports.ts"
import { verified } from "../files/Verification.ts"
import type { Build } from "./Build.ts"

export class BuildZips extends Context.Service<
  BuildZips,
  {
    /** Returns the verified zip. */
    readonly get: (build: Build) => Effect.Effect<Uint8Array, ContentDamaged | StoreUnavailable>
    /** Reads a range, which is not verified, or all bytes, which fail before their end if they are damaged. */
    readonly read: (
      build: Build,
      range?: ByteRange
    ) => Effect.Effect<Stream.Stream<Uint8Array, StoreUnavailable | ContentDamaged>, StoreUnavailable, Scope.Scope>
  }
>()("@weft/core/resources/builds/BuildZips") {
  static readonly layer: Layer.Layer<BuildZips, never, BlobStore | DamageReports | Digest.Digest> = Layer.effect(
    BuildZips,
    Effect.gen(function* () {
      const blobs = yield* BlobStore
      const reports = yield* DamageReports
      const digest = yield* Digest.Digest

      const damaged = ({ build_id, env_id, project_name, storage_path }: Build) =>
        failDamaged(reports, { kind: "build", env_id, id: build_id, name: project_name, storage_path })

      return BuildZips.of({
        get: Effect.fnUntraced(function* (build) {
          const zip = yield* requireZip(blobs.get(build.storage_path), build)
          return (yield* digest.digestHex(Digest.sha256, zip)) === build.hash ? zip : yield* damaged(build)
        }),
        read: (build, range) =>
          Effect.map(requireZip(blobs.read(build.storage_path, range), build), (bytes) =>
            range === undefined || (range.start === 0 && range.end >= build.size)
              ? verified(bytes, { digest: build.hash, parts: null }, blobs.newHash, damaged(build))
              : bytes
          )
      })
    })
  )
}

/** Turns `NotFound` for the zip of a stored build into `StoreUnavailable`, because the caller is not at fault. */
const requireZip = <A, R>(
  bytes: Effect.Effect<A, NotFound | StoreUnavailable, R>,
  { build_id }: Build
): Effect.Effect<A, StoreUnavailable, R> =>
  Effect.catchTag(bytes, "NotFound", (cause) =>
    Effect.fail(new StoreUnavailable({ operation: `zip of build ${build_id}`, cause }))
  )
