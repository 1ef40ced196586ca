/** Loads a new bundle for the first time: in a runner of its own, which is killed afterwards. */
import { BundleRejected, type Limits, SandboxUnavailable } from "@weft/core/adapter"
import { Effect } from "effect"
import type { FromRunner } from "../protocol/FromRunner.ts"
import { requireFewExports, requireShort } from "../supervisor/outcomes.ts"
import type { RunnerDeath } from "../supervisor/RunnerDeath.ts"
import type { SpareRunner } from "../supervisor/SpareRunner.ts"
import type { Compiled } from "./Compile.ts"
import { StackMap } from "./StackMap.ts"

export interface Loaded {
  /** JSON text of the exports, from the guest. */
  readonly exports: string
  readonly cache: Uint8Array<ArrayBuffer>
}

/** Maximum time to start a process and its isolate, in addition to the load of the bundle. */
const startMs = 10_000
const memoryWatchMs = 50

/** Loads a bundle once. `rssBytes` is the resident memory at which the runner is killed: it covers memory outside the heap. */
export const loadOnce = (
  spares: SpareRunner,
  limits: Limits,
  rssBytes: number,
  compiled: Compiled
): Effect.Effect<Loaded, BundleRejected | SandboxUnavailable> =>
  Effect.callback((resume) => {
    let deadline: NodeJS.Timeout | undefined
    let watch: NodeJS.Timeout | undefined
    const end = (result: Effect.Effect<Loaded, BundleRejected | SandboxUnavailable>): void => {
      clearTimeout(deadline)
      clearInterval(watch)
      resume(result)
      runner.kill("the bundle is loaded")
      spares.renew()
    }
    const runner = spares.take({
      message: (message) => {
        const result = toResult(message, limits, compiled)
        if (result !== undefined) end(result)
      },
      died: (death) => end(Effect.fail(toDeathError(death)))
    })
    deadline = setTimeout(() => end(Effect.fail(tooSlow(limits))), limits.loadMs + startMs)
    watch = setInterval(() => {
      if (runner.rssBytes() > rssBytes) end(Effect.fail(rejected(tooMuchMemory(limits))))
    }, memoryWatchMs)
    runner.send({
      kind: "load",
      isolate: 1,
      owner: 0,
      describe: true,
      script: compiled.script,
      cache: new Uint8Array(0)
    })
    return Effect.sync(() => {
      clearTimeout(deadline)
      clearInterval(watch)
      runner.kill("the preparation was interrupted")
    })
  })

/** Returns the result of a message, or undefined. Throws `ProtocolError` for anything that the kernel never sends. */
const toResult = (
  message: FromRunner,
  limits: Limits,
  compiled: Compiled
): Effect.Effect<Loaded, BundleRejected | SandboxUnavailable> | undefined => {
  switch (message.kind) {
    case "loaded":
      requireFewExports(message.exports, limits)
      return Effect.succeed({ exports: message.exports, cache: message.cache })
    case "loadFailed":
      requireShort(message.name, message.message, message.stack)
      return Effect.fail(rejection(message, limits, compiled))
    case "lost":
    case "unresponsive":
      return Effect.fail(
        message.kind === "lost" && message.cause !== "memory" ? tooSlow(limits) : rejected(tooMuchMemory(limits))
      )
    default:
      return undefined
  }
}

const rejection = (
  message: Extract<FromRunner, { readonly kind: "loadFailed" }>,
  limits: Limits,
  compiled: Compiled
): BundleRejected => {
  if (message.failure === "timeout") return tooSlow(limits)
  if (message.failure === "memory") return rejected(tooMuchMemory(limits))
  if (message.name === "BadMeta") return rejected(message.message)
  const at = new StackMap(compiled.sourceMap).first(message.stack) ?? "index.js"
  return rejected(`${at} ${message.name}: ${message.message}`)
}

const tooMuchMemory = (limits: Limits): string => `index.js needs more than ${limits.heapBytes} bytes to load`

const tooSlow = (limits: Limits): BundleRejected => rejected(`index.js did not load within ${limits.loadMs} ms`)

/** Attributes the death of the process to the bundle, its only content, unless the process did not start. */
const toDeathError = ({ cause, why }: RunnerDeath): BundleRejected | SandboxUnavailable =>
  cause === "unstarted"
    ? new SandboxUnavailable({ reason: `a runner process ${why}` })
    : rejected(`index.js crashed the process that loaded it (${why})`)

const rejected = (reason: string): BundleRejected => new BundleRejected({ reason })
