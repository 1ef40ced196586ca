/** Files of a build's zip, which the build's code can read. */
import { Cache, Context, Effect, Exit, Layer } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { type BundleFile, Sandbox } from "../../platform/sandbox/Sandbox.ts"
import type { BuildRef } from "./Artifacts.ts"
import { BuildStore } from "./BuildStore.ts"

export interface Asset extends BundleFile {
  /** Content type by the extension of the name. */
  readonly content_type: string
  /** A quoted strong entity tag (RFC 9110). */
  readonly etag: string
}

/** Maximum build records in the cache of a node. The fields used here never change. */
const capacity = 1000

export class Assets extends Context.Service<
  Assets,
  {
    /** Returns the file of this name in the build's zip, or null if it does not exist. */
    readonly open: (build: BuildRef, name: string) => Effect.Effect<Asset | null, NotFound | StoreUnavailable>
  }
>()("@weft/core/resources/builds/Assets") {
  static readonly layer: Layer.Layer<Assets, never, BlobStore | BuildStore | Sandbox> = Layer.effect(
    Assets,
    Effect.gen(function* () {
      const blobs = yield* BlobStore
      const store = yield* BuildStore
      const sandbox = yield* Sandbox
      const builds = yield* Cache.makeWith(
        ({ env_id, build_id, project_id }: BuildRef) => store.get(env_id, build_id, project_id),
        { capacity, timeToLive: (exit) => (Exit.isSuccess(exit) ? "10 minutes" : 0) }
      )

      return Assets.of({
        open: Effect.fnUntraced(function* ({ env_id, project_id, build_id }, name) {
          const { storage_path, size, hash } = yield* Cache.get(builds, { env_id, project_id, build_id })
          const zip = { build_id, path: storage_path, size, read: (range: Range) => blobs.read(storage_path, range) }
          const file = yield* sandbox.openFile(zip, name)
          if (file === null) return null
          return { ...file, content_type: lookUpContentType(name), etag: `"${hash}.${file.crc32.toString(16)}"` }
        })
      })
    })
  )
}

interface Range {
  readonly start: number
  readonly end: number
}

const lookUpContentType = (name: string): string =>
  contentTypes.get(name.slice(name.lastIndexOf(".") + 1).toLowerCase()) ?? "application/octet-stream"

const contentTypes: ReadonlyMap<string, string> = new Map([
  ["css", "text/css; charset=utf-8"],
  ["csv", "text/csv; charset=utf-8"],
  ["gif", "image/gif"],
  ["htm", "text/html; charset=utf-8"],
  ["html", "text/html; charset=utf-8"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["js", "text/javascript; charset=utf-8"],
  ["json", "application/json"],
  ["map", "application/json"],
  ["md", "text/markdown; charset=utf-8"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["svg", "image/svg+xml"],
  ["txt", "text/plain; charset=utf-8"],
  ["wasm", "application/wasm"],
  ["webp", "image/webp"],
  ["woff2", "font/woff2"],
  ["xml", "application/xml"]
])
