/** Runs hostile shapes while other tenants on the same runners make calls, and records the results of both. */
import { type Execution, Sandbox } from "@weft/core/adapter"
import { Effect, Fiber } from "effect"
import { sandbox } from "../../src/index.ts"
import { createTenant, prepareTenant, type Tenant } from "../Tenant.ts"
import { shapes } from "./shapes.ts"

const MiB = 1024 * 1024

/** Two runners with tight limits. Builds are never put under quarantine, so that every shape runs. */
export const shapeHarnessLayer = sandbox({
  runners: 2,
  strikes: Number.MAX_SAFE_INTEGER,
  rssBytes: 700 * MiB,
  limits: { heapBytes: 64 * MiB, bufferBytes: 32 * MiB }
})

/** Enough neighbours that both runners have some. */
const neighbours = [1, 2, 3, 4]
/** Timeout of a run, in milliseconds, long enough for a busy machine. */
export const timeoutMs = 8000

/** One export per shape, by index: their names are not identifiers. */
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
  /** Results of neighbours' calls that failed. */
  readonly failed: ReadonlyArray<string>
  /** Number of neighbours' calls. */
  readonly answered: number
  /** Maximum wait of a neighbour, in milliseconds. */
  readonly longestMs: number
}

export interface ShapeHarness {
  readonly attack: (name: string) => Effect.Effect<Report>
}

/** Prepares all tenants. Each attack is a build of its own, so that none inherits another's strikes. */
export const makeShapeHarness = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const innocent = yield* Effect.forEach(neighbours, (number) => prepareTenant(number, neighbourScript))
  const first = yield* prepareTenant(100, attackScript)
  yield* Effect.forEach(innocent, (tenant) => tenant.call("ping"))
  const names = Object.keys(shapes)

  const attack = Effect.fnUntraced(function* (name: string) {
    const index = names.indexOf(name)
    const attacker = createTenant(sandbox, 101 + index, first.artifact)
    const failed: Array<string> = []
    const waits: Array<number> = []
    const pings = yield* Effect.forkChild(
      Effect.forEach(innocent, (tenant) => Effect.forever(ping(tenant, failed, waits)), { concurrency: "unbounded" })
    )
    const execution = yield* attacker.call(`shape${index}`, { timeoutMs })
    // Waits for effects of leftover work, and for the sandbox to recover.
    yield* Effect.sleep("300 millis")
    const before = waits.length
    yield* Effect.forEach(innocent, (tenant) => ping(tenant, failed, waits), { concurrency: "unbounded" })
    yield* Fiber.interrupt(pings)
    return { execution, failed, answered: before, longestMs: Math.max(...waits) } satisfies Report
  })

  return { attack } satisfies ShapeHarness
})

const ping = (tenant: Tenant, failed: Array<string>, waits: Array<number>) =>
  Effect.andThen(
    Effect.map(tenant.call("ping"), ({ outcome, usage }) => {
      waits.push(usage.wall_ms)
      if (outcome._tag !== "Returned") failed.push(JSON.stringify(outcome))
    }),
    Effect.sleep("5 millis")
  )
