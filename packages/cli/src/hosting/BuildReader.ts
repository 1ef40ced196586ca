/** Reads what builds offer, in a sandbox of this process: with the code by which servers read them. */
import { type Manifest, readManifest, readTicks, Sandbox, type ScheduleEntry, Timestamp } from "@weft/core"
import { isolated } from "@weft/sandbox"
import { Effect, ManagedRuntime, Schema } from "effect"

export interface BuildReader {
  /** Rejects with an error that says in which function what is wrong. Hostile code can do no more than not load. */
  readonly read: (zip: Uint8Array) => Promise<Manifest>
  /** When a schedule is due next after `now`, in milliseconds since 1970 as that is; null if never. */
  readonly nextTick: (schedule: Pick<ScheduleEntry, "cron" | "timezone">, now: number) => number | null
  readonly close: () => Promise<void>
}

export const openBuildReader = (): BuildReader => {
  const runtime = ManagedRuntime.make(isolated({ runners: 1 }))
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

/** Ids are the servers' to give; these are thrown away. */
const freshId = <Id extends string>(schema: Schema.Codec<Id, string>) =>
  Effect.orDie(Schema.decodeEffect(schema)(crypto.randomUUID()))
