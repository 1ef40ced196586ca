/** The functions of the tests. */
import type { TrustedModule, TrustedSvc } from "@weft/core/testing"

const onOrder = Object.assign(
  (event: { readonly event_data: { readonly total: number } }) => ({ doubled: event.event_data.total * 2 }),
  { meta: { event: "order:created" } }
)

interface Import {
  readonly steps: number
  /** Delay before each step, in milliseconds. */
  readonly pause_ms?: number
}

const onImport = Object.assign(
  async (event: { readonly event_data: Import }, svc: TrustedSvc) => {
    const { steps, pause_ms = 0 } = event.event_data
    for (let step = 1; step <= steps; step++) {
      if (pause_ms > 0) await new Promise((resolve) => setTimeout(resolve, pause_ms))
      await svc.stream.emit("progress", { step })
    }
    return "imported"
  },
  { meta: { event: "import" } }
)

const nightly = Object.assign(() => null, { meta: { schedule: { cron: "0 3 * * *" } } })

interface Sleeper {
  readonly step: (name: string, body: () => unknown) => Promise<unknown>
  readonly sleep: (name: string, duration: string) => Promise<void>
}

const onNap = Object.assign(
  async (_: unknown, svc: Sleeper) => {
    for (const name of ["a", "b", "c"]) await svc.step(name, () => name)
    await svc.sleep("nap", "2h")
    return "rested"
  },
  { meta: { event: "nap", durable: true } }
)

interface Approver {
  readonly createToken: (name: string) => Promise<{ readonly token: string }>
  readonly waitForToken: (token: string) => Promise<unknown>
}

const onExpense = Object.assign(
  async (_: unknown, svc: Approver) => svc.waitForToken((await svc.createToken("approval")).token),
  { meta: { event: "expense", durable: true } }
)

const main = {
  onExpense,
  onOrder,
  onNap,
  onImport,
  nightly,
  plain: (value: unknown) => ({ value }),
  hang: () => new Promise(() => undefined)
}

export const modules: Readonly<Record<string, TrustedModule>> = { shop: { main } }
