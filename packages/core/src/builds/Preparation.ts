/** What a build needs before it can serve. Everything here that fails is its author's fault, and changes nothing. */
import { Effect } from "effect"
import { BadRequest } from "../errors/Errors.ts"
import { freshIds } from "../ids/Ids.ts"
import { Sandbox, type SandboxUnavailable } from "../sandbox/Sandbox.ts"
import type { Manifest } from "./Manifest.ts"
import { readManifest } from "./Meta.ts"

export interface Preparation {
  readonly manifest: Manifest
  readonly artifact: Uint8Array
}

/** Loads the build's code in a fresh sandbox and reads its metadata. `BadRequest` says which and where. */
export type Prepare = (zip: Uint8Array) => Effect.Effect<Preparation, BadRequest | SandboxUnavailable>

export const makePrepare = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const freshId = yield* freshIds

  return Effect.fnUntraced(function* (zip) {
    const { functions, artifact } = yield* Effect.catchTag(sandbox.prepare(zip), "BundleRejected", ({ reason }) =>
      Effect.fail(new BadRequest({ reason }))
    )
    return { manifest: yield* readManifest(functions, freshId), artifact }
  }) satisfies Prepare
})
