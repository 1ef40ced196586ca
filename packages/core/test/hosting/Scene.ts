/** Host functions as the runtime calls them, for runs that are made up, in virtual time. */
import {
  BuildId,
  type EnvId,
  type HostCallRefused,
  type HostFunctions,
  NodeId,
  NodeMetrics,
  ProjectId,
  type Run,
  RunId,
  StreamId,
  Timestamp
} from "@weft/core"
import { Cause, Effect, Layer, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import type { Identity } from "../../src/access/Caller.ts"
import { makeHostFunctionCalls } from "../../src/hostcalls/HostFunctionCalls.ts"
import { hostTableLayer } from "../../src/hosting/HostTable.ts"
import { newEnv, services } from "../Services.ts"

export const world = Layer.merge(services(), NodeMetrics.layer)

const idOf = (number: number) => `01890000-0000-7000-8000-${String(number).padStart(12, "0")}`

export const runOf = (env_id: EnvId, number = 1): Run => ({
  run_id: RunId.make(idOf(number)),
  env_id,
  stream_id: StreamId.make(idOf(1)),
  project_id: ProjectId.make(idOf(2)),
  project_name: "shop",
  build_id: BuildId.make(idOf(3)),
  ns: "main",
  var: "order",
  run_type: "event",
  status: "running",
  start_time: Timestamp.make(0),
  stop_time: null,
  origin_run_id: null,
  event_id: null,
  attempt: 2,
  result: null,
  node_id: NodeId.make(idOf(4)),
  cpu_ms: null,
  wall_ms: null,
  heap_bytes: null
})

/** Lets promises and fibers go on as far as they can without time. */
export const settle = Effect.gen(function* () {
  for (let turn = 0; turn < 5; turn++) {
    yield* TestClock.adjust(0)
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
})

/** What the guest's promise comes to: the answer's text, or `[name, message]` of its error. */
const told = (answer: Effect.Effect<string, HostCallRefused>) =>
  Effect.match(answer, {
    onFailure: ({ name, message }): string | ReadonlyArray<string> => [name, message],
    onSuccess: (text) => text
  })

/** `logged` is what the host's log tells. */
export const scene = Effect.fnUntraced(function* (functions: HostFunctions, slug = "acme") {
  const env = yield* newEnv(slug)
  const metrics = yield* NodeMetrics
  const logged: Array<string> = []
  const keep = Logger.layer([
    Logger.make(({ message, cause, fiber }) => {
      const annotations = JSON.stringify(fiber.getRef(References.CurrentLogAnnotations))
      logged.push(`${String(message)} ${annotations} ${Cause.pretty(cause)}`)
    })
  ])
  const calls = yield* Effect.provide(makeHostFunctionCalls, hostTableLayer(functions))

  const ask = (name: string, payload = "", run = runOf(env.env_id), caller: Identity | null = null) => {
    const answer = calls.answer(run, caller, { op: `host.${name}`, payload })
    if (answer === null) throw new Error(`${name} is not answered`)
    return Effect.provide(told(answer), keep)
  }
  return { env, metrics, logged, calls, ask }
})
