/** What builds offer, read here: servers tell only of a part of it, and only of builds that are deployed. */
import type { Manifest } from "@weft/core"
import { Effect } from "effect"
import { type Failure, failure } from "../Failure.ts"
import { printable } from "../output/Printable.ts"

export interface Reader {
  /** Fails when servers would refuse the build, for the same reason. */
  readonly read: (zip: Uint8Array) => Effect.Effect<Manifest, Failure>
  /** When a schedule is due next after `now`, in milliseconds since 1970 as that is; null if never. */
  readonly nextTick: (schedule: Pick<Manifest["schedules"][number], "cron" | "timezone">, now: number) => number | null
}

/** A sandbox of its own, which ends with the scope. */
export const makeReader = Effect.gen(function* () {
  const { openBuildReader } = yield* Effect.promise(() => import("../hosting/BuildReader.ts"))
  const reader = yield* Effect.acquireRelease(Effect.sync(openBuildReader), (opened) =>
    Effect.promise(() => opened.close())
  )
  return {
    read: (zip) => Effect.tryPromise({ try: () => reader.read(zip), catch: unreadable }),
    nextTick: reader.nextTick
  } satisfies Reader
})

const unreadable = (error: unknown): Failure =>
  failure("build", `The build cannot be deployed: ${printable(error instanceof Error ? error.message : String(error))}`)
