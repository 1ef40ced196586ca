/** Prepares a build for activation without changing state. `BadRequest` means that the build is invalid. */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { freshIds } from "../../foundation/Ids.ts"
import { Sandbox, type SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import { findUses } from "./CodeUses.ts"
import type { Manifest } from "./Manifest.ts"
import { readManifest } from "./Meta.ts"

export interface Preparation {
  readonly manifest: Manifest
  readonly artifact: Uint8Array
}

/** Loads the build's code in a new sandbox and reads its metadata. `BadRequest` contains the invalid field. */
export type Prepare = (zip: Uint8Array) => Effect.Effect<Preparation, BadRequest | SandboxUnavailable>

export const makePrepare = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const freshId = yield* freshIds

  return Effect.fnUntraced(function* (zip) {
    const { functions, artifact, code } = yield* Effect.catchTag(sandbox.prepare(zip), "BundleRejected", ({ reason }) =>
      Effect.fail(new BadRequest({ reason }))
    )
    const manifest = yield* readManifest(functions, freshId)
    return { manifest: code === undefined ? manifest : { ...manifest, uses: yield* findUses(code) }, artifact }
  }) satisfies Prepare
})
