/** Runs hostile shapes while innocent tenants on the same runners keep calling, and notes what became of everyone. */
import { type Execution, Sandbox } from "@weft/core"
import { Effect, Fiber } from "effect"
import { isolated } from "../../src/index.ts"
import { type Tenant, tenantOf, tenantWith } from "../Tenant.ts"
import { shapes } from "./shapes.ts"

const MiB = 1024 * 1024

/** Two runners, tight limits, and a build is never put under quarantine: every shape gets its turn. */
export const siegeLayer = isolated({
  runners: 2,
  strikes: Number.MAX_SAFE_INTEGER,
  rssBytes: 700 * MiB,
  limits: { heapBytes: 64 * MiB, bufferBytes: 32 * MiB }
})

/** So many neighbours that both runners have some, whichever the attacker is in. */
const neighbours = [1, 2, 3, 4]
/** Of a run, in milliseconds: on a busy machine its share of the processor lasts long. */
export const timeoutMs = 8000

/** An export for each shape, in their order: names cannot be spelled as they are. */
const attackScript = Object.values(shapes)
  .map(({ code }, index) => `export const shape${index} = async (event, svc) => {\n${code}\n}`)
  .join("\n")

const neighbourScript = `
let calls = 0
export const ping = async () => {
  await new Promise((resolve) => setTimeout(resolve, 1))
  return ++calls
}`

export interface Report {
  readonly execution: Execution
  /** Calls of neighbours that did not return. */
  readonly failed: ReadonlyArray<string>
  /** Calls of neighbours in all. */
  readonly answered: number
  /** The longest that a neighbour waited, in milliseconds. */
  readonly longestMs: number
}

export interface Siege {
  readonly attack: (name: string) => Effect.Effect<Report>
}

/** Prepares everyone. Each attack is made by a build of its own, so that none inherits another's strikes. */
export const makeSiege = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const innocent = yield* Effect.forEach(neighbours, (number) => tenantOf(number, neighbourScript))
  const first = yield* tenantOf(100, attackScript)
  yield* Effect.forEach(innocent, (tenant) => tenant.call("ping"))
  const names = Object.keys(shapes)

  const attack = Effect.fnUntraced(function* (name: string) {
    const index = names.indexOf(name)
    const attacker = tenantWith(sandbox, 101 + index, first.artifact)
    const failed: Array<string> = []
    const waits: Array<number> = []
    const pings = yield* Effect.forkChild(
      Effect.forEach(innocent, (tenant) => Effect.forever(ping(tenant, failed, waits)), { concurrency: "unbounded" })
    )
    const execution = yield* attacker.call(`shape${index}`, { timeoutMs })
    // What is left behind has time to do harm, and the sandbox to get over it.
    yield* Effect.sleep("300 millis")
    const before = waits.length
    yield* Effect.forEach(innocent, (tenant) => ping(tenant, failed, waits), { concurrency: "unbounded" })
    yield* Fiber.interrupt(pings)
    return { execution, failed, answered: before, longestMs: Math.max(...waits) } satisfies Report
  })

  return { attack } satisfies Siege
})

const ping = (tenant: Tenant, failed: Array<string>, waits: Array<number>) =>
  Effect.andThen(
    Effect.map(tenant.call("ping"), ({ outcome, usage }) => {
      waits.push(usage.wall_ms)
      if (outcome._tag !== "Returned") failed.push(JSON.stringify(outcome))
    }),
    Effect.sleep("5 millis")
  )
