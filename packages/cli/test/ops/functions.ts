/** Functions of the deployed test project. */
import type { TrustedModule, TrustedSvc } from "@weft/core/testing"

interface Sleeper {
  readonly step: (name: string, body: () => unknown) => Promise<unknown>
  readonly sleep: (name: string, duration: string) => Promise<void>
}

interface OrderEvent {
  readonly event_data: { readonly total: number }
}

const onOrder = Object.assign(
  (event: OrderEvent, svc: TrustedSvc) => {
    svc.log.info("doubling", { total: event.event_data.total })
    svc.log.warn("\u001b[2Jover\nlines")
    return { doubled: event.event_data.total * 2 }
  },
  { meta: { event: "order:created" } }
)

const fail = () => {
  const error = new RangeError("no such rate")
  error.stack = "RangeError: no such rate\n    at charge (src/billing.ts:17:9)"
  throw error
}

const onImport = Object.assign(
  async (event: { readonly event_data: { readonly steps: number } }, svc: TrustedSvc) => {
    for (let step = 1; step <= event.event_data.steps; step++) await svc.stream.emit("progress", { step })
    return "imported"
  },
  { meta: { event: "import" } }
)

const onNap = Object.assign(
  async (_: unknown, svc: Sleeper) => {
    await svc.step("prepare", () => "ready")
    await svc.sleep("nap", "2h")
    return "rested"
  },
  { meta: { event: "nap", durable: true } }
)

interface DurableSvc {
  readonly createToken: (name: string) => Promise<unknown>
  readonly waitForToken: (token: unknown) => Promise<unknown>
}

const onApproval = Object.assign(
  async (_: unknown, svc: DurableSvc) => svc.waitForToken(await svc.createToken("approval")),
  { meta: { event: "approval:wanted", durable: true } }
)

const main = {
  onNap,
  onOrder,
  onImport,
  onApproval,
  fail,
  add: (...numbers: ReadonlyArray<number>) => numbers.reduce((sum, one) => sum + one, 0),
  echo: (...values: ReadonlyArray<unknown>) => values,
  hang: () => new Promise(() => undefined)
}

export const modules: Readonly<Record<string, TrustedModule>> = { shop: { main } }
