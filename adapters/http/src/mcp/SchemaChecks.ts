/** Checks arguments against the input schemas of tools, in a thread that is ended when a check takes too long. */
import { Worker } from "node:worker_threads"
import type { OfferedTool } from "@weft/core"
import { Effect, type Scope } from "effect"
import { type Check, CheckTurns, notNow } from "./CheckTurns.ts"

export interface CheckRequest {
  /** One for each tool of a build: validators are kept by it. */
  readonly schemaId: number
  /** JSON texts. */
  readonly schema: string
  readonly args: string
}

export interface CheckReply {
  /** What is wrong, for the caller of the tool; null when nothing is. */
  readonly fault: string | null
}

export interface SchemaChecks {
  /** What is wrong with the arguments; null when nothing is. `args` is JSON text. */
  readonly check: (offered: OfferedTool, args: string) => Check
}

/** The longest that a check may take. A good one takes microseconds. */
const checkMs = 1000
/** Longer texts are refused unseen. */
const schemaLengthMax = 256 * 1024

/** Schemas that are remembered; the one that came first goes first. */
const knownMax = 10_000

/** The schema of a tool of one build. */
interface KnownSchema {
  readonly id: number
  /** It has stopped the thread once, and is not let in again. */
  isCostly: boolean
}

const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }

const tooCostly = "the input schema of the tool takes too long to check"

/** One thread for all, which begins with the first check; checks take turns. */
export const makeSchemaChecks: Effect.Effect<SchemaChecks, never, Scope.Scope> = Effect.gen(function* () {
  const turns = new CheckTurns()
  const known = new Map<string, KnownSchema>()
  let lastId = 0
  let worker: Worker | undefined

  const end = Effect.suspend(() => {
    const ended = worker
    worker = undefined
    return ended === undefined ? Effect.void : Effect.promise(() => ended.terminate())
  })
  yield* Effect.addFinalizer(() => end)

  const schemaOf = ({ build, tool }: OfferedTool): KnownSchema => {
    const key = `${build.build_id} ${tool.service} ${tool.name}`
    const found = known.get(key)
    if (found !== undefined) return found
    const schema = { id: ++lastId, isCostly: false }
    const [oldest] = known.keys()
    if (known.size >= knownMax && oldest !== undefined) known.delete(oldest)
    known.set(key, schema)
    return schema
  }

  /** The next message of the thread; null when it ends instead. */
  const reply = (asked: Worker, begin: () => void): Effect.Effect<CheckReply | null> =>
    Effect.callback<CheckReply | null>((resume) => {
      const settle = (received: CheckReply | null) => {
        asked.off("message", settle)
        asked.off("exit", lost)
        resume(Effect.succeed(received))
      }
      const lost = () => settle(null)
      asked.on("message", settle)
      asked.on("exit", lost)
      begin()
    })

  /**
   * A thread that is ready: how long it takes to begin on a busy machine says nothing of a schema, nor does it that it
   * cannot, which gives null.
   */
  const opened = Effect.suspend(() => {
    if (worker !== undefined) return Effect.succeed(worker)
    const begun = openWorker()
    worker = begun
    begun.once("exit", () => {
      if (worker === begun) worker = undefined
    })
    const ready = reply(begun, () => undefined)
    return Effect.map(ready, (said) => (said === null ? null : begun))
  })

  /** Null where the thread was stopped by it. */
  const ask = (asked: Worker, request: CheckRequest): Effect.Effect<CheckReply | null> =>
    reply(asked, () => asked.postMessage(request)).pipe(
      Effect.timeoutOrElse({ duration: checkMs, orElse: () => Effect.succeed(null) })
    )

  const checkNow = (offered: OfferedTool, args: string): Check =>
    Effect.gen(function* () {
      const known = schemaOf(offered)
      const schema = JSON.stringify(offered.tool.input)
      if (known.isCostly || schema.length > schemaLengthMax) return tooCostly
      const asked = yield* opened
      if (asked === null) {
        yield* Effect.logError("The thread that checks arguments of tools does not begin")
        return notNow
      }
      const answered = yield* ask(asked, { schemaId: known.id, schema, args })
      if (answered !== null) return answered.fault
      known.isCostly = true
      yield* turns.offend(offered.build.env_id)
      yield* end
      return tooCostly
    })

  return {
    check: (offered, args) =>
      Effect.suspend(() =>
        schemaOf(offered).isCostly
          ? Effect.succeed(tooCostly)
          : turns.take(offered.build.env_id, checkNow(offered, args))
      )
  }
})

const openWorker = (): Worker => {
  const worker = new Worker(new URL("./SchemaWorker.ts", import.meta.url), { resourceLimits })
  // Running out of memory is an end like any other.
  worker.on("error", () => undefined)
  worker.unref()
  return worker
}
