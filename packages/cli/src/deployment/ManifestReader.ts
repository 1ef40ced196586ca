/** Reads manifests of builds locally: servers publish only parts of them, and only for deployed builds. */
import type { Manifest } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Failure, failure } from "../Failure.ts"
import { printable } from "../output/Printable.ts"

export interface ManifestReader {
  /** Fails if a server would reject the build, with the same reason. */
  readonly read: (zip: Uint8Array) => Effect.Effect<Manifest, Failure>
  /** Returns the next due time of a schedule after `now`, both in milliseconds since 1970; null if it is never due. */
  readonly nextTick: (schedule: Pick<Manifest["schedules"][number], "cron" | "timezone">, now: number) => number | null
}

/** Starts a sandbox that closes with the scope. */
export const makeManifestReader = Effect.gen(function* () {
  const { openBuildReader } = yield* Effect.promise(() => import("../hosting/BuildReader.ts"))
  const reader = yield* Effect.acquireRelease(Effect.sync(openBuildReader), (opened) =>
    Effect.promise(() => opened.close())
  )
  return {
    read: (zip) => Effect.tryPromise({ try: () => reader.read(zip), catch: unreadable }),
    nextTick: reader.nextTick
  } satisfies ManifestReader
})

const unreadable = (error: unknown): Failure =>
  failure("build", `The build cannot be deployed: ${printable(error instanceof Error ? error.message : String(error))}`)
