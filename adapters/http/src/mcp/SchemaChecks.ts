/** Checks arguments against the input schemas of tools, in a thread that is ended when a check takes too long. */
import { Worker } from "node:worker_threads"
import type { Tool } from "@weft/core"
import { Effect, type Scope, Semaphore } from "effect"

export interface CheckRequest {
  /** One for each deployment of a tool: validators are kept by it. */
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
  readonly check: (tool: Tool, args: string) => Effect.Effect<string | null>
}

/** The longest that a check may take. A good one takes microseconds. */
const checkMs = 1000
/** Longer texts are refused unseen. */
const schemaLengthMax = 256 * 1024

const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }

const tooCostly = "the input schema of the tool takes too long to check"

/** One thread for all, which begins with the first check; checks wait for each other. */
export const makeSchemaChecks: Effect.Effect<SchemaChecks, never, Scope.Scope> = Effect.gen(function* () {
  const turns = yield* Semaphore.make(1)
  const schemas = new WeakMap<Tool, { readonly id: number; readonly text: string }>()
  /** Schemas that have stopped the thread once, and are not let in again until they are deployed anew. */
  const costly = new WeakSet<Tool>()
  let lastId = 0
  let worker: Worker | undefined

  const end = Effect.suspend(() => {
    const ended = worker
    worker = undefined
    return ended === undefined ? Effect.void : Effect.promise(() => ended.terminate())
  })
  yield* Effect.addFinalizer(() => end)

  const schemaOf = (tool: Tool) => {
    const schema = schemas.get(tool) ?? { id: ++lastId, text: JSON.stringify(tool.input) }
    schemas.set(tool, schema)
    return schema
  }

  const ask = (request: CheckRequest): Effect.Effect<CheckReply | null> =>
    Effect.callback<CheckReply | null>((resume) => {
      worker ??= openWorker()
      const asked = worker
      const settle = (reply: CheckReply | null) => {
        asked.off("message", settle)
        asked.off("exit", lost)
        resume(Effect.succeed(reply))
      }
      const lost = () => settle(null)
      asked.on("message", settle)
      asked.on("exit", lost)
      asked.postMessage(request)
    })

  const checkNow = (tool: Tool, args: string): Effect.Effect<string | null> =>
    Effect.suspend(() => {
      const { id, text } = schemaOf(tool)
      if (costly.has(tool) || text.length > schemaLengthMax) return Effect.succeed(tooCostly)
      const reply = ask({ schemaId: id, schema: text, args }).pipe(
        Effect.timeoutOrElse({ duration: checkMs, orElse: () => Effect.succeed(null) })
      )
      return Effect.flatMap(reply, (answered) => {
        if (answered !== null) return Effect.succeed(answered.fault)
        costly.add(tool)
        return Effect.as(end, tooCostly)
      })
    })

  return { check: (tool, args) => Semaphore.withPermits(turns, 1)(Effect.uninterruptible(checkNow(tool, args))) }
})

const openWorker = (): Worker => {
  const worker = new Worker(new URL("./SchemaWorker.ts", import.meta.url), { resourceLimits })
  // Running out of memory is an end like any other.
  worker.on("error", () => undefined)
  worker.unref()
  return worker
}
