/** Validates arguments and results against the schemas of tools, in a thread that is terminated if a validation times out. */
import { Worker } from "node:worker_threads"
import type { DeployedTool } from "@weft/core/internal"
import { Effect, type Scope } from "effect"
import { type Validation, ValidationQueue, validationUnavailable } from "./ValidationQueue.ts"

export interface ValidationRequest {
  /** Identifies the tool of a build. The thread caches validators under it. */
  readonly schemaId: number
  /** JSON text, like `args`. */
  readonly schema: string
  readonly args: string
}

export interface ValidationReply {
  /** Description for the caller of the tool, or null for valid arguments. */
  readonly fault: string | null
}

export interface ArgumentValidator {
  /** Validates arguments, given as JSON text. */
  readonly validate: (deployed: DeployedTool, args: string) => Validation
  /** Validates a result with the output schema, given as JSON text. */
  readonly validateOutput: (deployed: DeployedTool, result: string) => Validation
}

/** Maximum duration of a validation, in milliseconds. A normal one takes microseconds. */
const validationMs = 1000
/** Maximum length of a schema, in characters of JSON. */
const schemaLengthMax = 256 * 1024

/** Maximum schemas in memory. Beyond it, the oldest is removed. */
const schemasMax = 10_000

/** The schema of a tool of one build. */
interface ToolSchema {
  readonly id: number
  /** True if a validation timed out. The schema is then not used again. */
  isBlocked: boolean
}

const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }

/** The schemas of a tool. */
type SchemaKind = "input" | "output"

const schemaTooSlow = (kind: SchemaKind): string => `the ${kind} schema of the tool takes too long to check`

/** Makes a validator with one thread, which starts with the first validation. */
export const makeArgumentValidator: Effect.Effect<ArgumentValidator, never, Scope.Scope> = Effect.gen(function* () {
  const queue = new ValidationQueue()
  const schemas = new Map<string, ToolSchema>()
  let lastId = 0
  let worker: Worker | undefined

  const terminate = Effect.suspend(() => {
    const ended = worker
    worker = undefined
    return ended === undefined ? Effect.void : Effect.promise(() => ended.terminate())
  })
  yield* Effect.addFinalizer(() => terminate)

  const getSchema = ({ build, tool }: DeployedTool, kind: SchemaKind): ToolSchema => {
    const key = `${build.build_id} ${kind} ${tool.service} ${tool.name}`
    const existing = schemas.get(key)
    if (existing !== undefined) return existing
    const schema = { id: ++lastId, isBlocked: false }
    const [oldest] = schemas.keys()
    if (schemas.size >= schemasMax && oldest !== undefined) schemas.delete(oldest)
    schemas.set(key, schema)
    return schema
  }

  /** Waits for the next message of the thread. Yields null if the thread exits instead. */
  const nextReply = (thread: Worker, begin: () => void): Effect.Effect<ValidationReply | null> =>
    Effect.callback<ValidationReply | null>((resume) => {
      const settle = (received: ValidationReply | null) => {
        thread.off("message", settle)
        thread.off("exit", onExit)
        resume(Effect.succeed(received))
      }
      const onExit = () => settle(null)
      thread.on("message", settle)
      thread.on("exit", onExit)
      begin()
    })

  /**
   * Starts the thread if necessary and waits until it is ready, or yields null if it cannot start. The start is not part
   * of the validation's time limit, because its duration depends on the machine and not on the schema.
   */
  const readyThread = Effect.suspend(() => {
    if (worker !== undefined) return Effect.succeed(worker)
    const started = openWorker()
    worker = started
    started.once("exit", () => {
      if (worker === started) worker = undefined
    })
    const ready = nextReply(started, () => undefined)
    return Effect.map(ready, (reply) => (reply === null ? null : started))
  })

  /** Yields null if the validation timed out or crashed the thread. */
  const send = (thread: Worker, request: ValidationRequest): Effect.Effect<ValidationReply | null> =>
    nextReply(thread, () => thread.postMessage(request)).pipe(
      Effect.timeoutOrElse({ duration: validationMs, orElse: () => Effect.succeed(null) })
    )

  const validateNow = (deployed: DeployedTool, kind: SchemaKind, args: string): Validation =>
    Effect.gen(function* () {
      const known = getSchema(deployed, kind)
      const schema = JSON.stringify(deployed.tool[kind] ?? {})
      if (known.isBlocked || schema.length > schemaLengthMax) return schemaTooSlow(kind)
      const thread = yield* readyThread
      if (thread === null) {
        yield* Effect.logError("the thread that validates the arguments of tools does not start")
        return validationUnavailable
      }
      const reply = yield* send(thread, { schemaId: known.id, schema, args })
      if (reply !== null) return reply.fault
      known.isBlocked = true
      yield* queue.recordTimeout(deployed.build.env_id)
      yield* terminate
      return schemaTooSlow(kind)
    })

  const validate =
    (kind: SchemaKind) =>
    (deployed: DeployedTool, text: string): Validation =>
      Effect.suspend(() =>
        getSchema(deployed, kind).isBlocked
          ? Effect.succeed(schemaTooSlow(kind))
          : queue.run(deployed.build.env_id, validateNow(deployed, kind, text))
      )

  return { validate: validate("input"), validateOutput: validate("output") }
})

const openWorker = (): Worker => {
  const worker = new Worker(new URL("./SchemaWorker.ts", import.meta.url), { resourceLimits })
  // `exit` follows, also if the thread exceeds its memory limit.
  worker.on("error", () => undefined)
  worker.unref()
  return worker
}
