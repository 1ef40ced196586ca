/** Reads manifests of builds in a sandbox of this process, with the same code as servers. */
import { type Manifest, Sandbox, type ScheduleEntry, Timestamp } from "@weft/core/adapter"
import { readManifest, readTicks } from "@weft/core/internal"
import { sandbox } from "@weft/sandbox"
import { Effect, ManagedRuntime, Schema } from "effect"

export interface BuildReader {
  /** Rejects with an error that names the invalid function. Hostile code can only fail to load. */
  readonly read: (zip: Uint8Array) => Promise<Manifest>
  /** Returns the next due time of a schedule after `now`, both in milliseconds since 1970; null if it is never due. */
  readonly nextTick: (schedule: Pick<ScheduleEntry, "cron" | "timezone">, now: number) => number | null
  readonly close: () => Promise<void>
}

export const openBuildReader = (): BuildReader => {
  const runtime = ManagedRuntime.make(sandbox({ runners: 1 }))
  return {
    read: (zip) => runtime.runPromise(readBuild(zip)),
    nextTick: ({ cron, timezone }, now) => readTicks(cron, timezone)(Timestamp.make(now)),
    close: () => runtime.dispose()
  }
}

const readBuild = Effect.fnUntraced(function* (zip: Uint8Array) {
  const sandbox = yield* Sandbox
  yield* sandbox.check(zip)
  const { functions } = yield* sandbox.prepare(zip)
  return yield* readManifest(functions, freshId)
})

/** Generates placeholder ids. Servers assign the real ones. */
const freshId = <Id extends string>(schema: Schema.Codec<Id, string>) =>
  Effect.orDie(Schema.decodeEffect(schema)(crypto.randomUUID()))
