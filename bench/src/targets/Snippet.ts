/** A snippet of 1 KB and its measurement, the same for every engine. */
import { quantile } from "../programs/quantile.ts"
import type { Figures } from "../Row.ts"

/** Body of a function of `args`: prices of an order with discounts, as a customer of a shop could write it. */
export const snippet = `
const [order, rates] = args
const lines = order.items.map((item) => {
  const base = item.price * item.count
  const rate = rates[item.kind] ?? 0
  // Ten and more of an item get another discount, but never more than a third in total.
  const discount = Math.min(1 / 3, rate + (item.count >= 10 ? 0.05 : 0))
  return { name: item.name, base, discount, total: Math.round(base * (1 - discount) * 100) / 100 }
})
const net = lines.reduce((sum, line) => sum + line.total, 0)
const shipping = net >= 100 || order.pickup ? 0 : order.country === "CH" ? 9 : 14.5
const tax = Math.round((net + shipping) * 8.1) / 100
const names = lines.filter((line) => line.discount > 0).map((line) => line.name).sort()
const label = names.length === 0 ? "no discount" : names.length + " discounts: " + names.join(", ")
const points = Math.floor(net / 10) * (order.customer.since < 2020 ? 2 : 1)
const greeting = "Dear " + order.customer.name + ", thank you for " + lines.length + " items."
return { net, shipping, tax, total: Math.round((net + shipping + tax) * 100) / 100, label, points, greeting }
`

export const snippetArgs = [
  {
    items: [
      { name: "tea", kind: "drink", price: 4.5, count: 12 },
      { name: "cup", kind: "ware", price: 12, count: 3 },
      { name: "tray", kind: "ware", price: 30, count: 1 }
    ],
    country: "CH",
    pickup: false,
    customer: { name: "Ada", since: 2019 }
  },
  { drink: 0.1 }
]

/** Field of the result that shows that the code ran. */
const expectedPoints = 22

/** An engine that runs the snippet. Both functions return its result. */
export interface SnippetEngine {
  /** Runs the snippet where it ran before. */
  readonly warm: () => Promise<unknown>
  /** Compiles and runs the source for the first time, in an isolate or context of its own. */
  readonly cold: (source: string) => Promise<unknown>
  /** Concurrent calls of the measurement of throughput. */
  readonly clients: number
}

const check = (result: unknown): void => {
  if (typeof result === "object" && result !== null && "points" in result && result.points === expectedPoints) return
  throw new Error(`The snippet returned ${JSON.stringify(result)}`)
}

export const measureSnippets = async (engine: SnippetEngine, isShort: boolean): Promise<Figures> => {
  const [samples, colds, seconds] = isShort ? [200, 10, 0.5] : [3000, 100, 3]
  for (let at = 0; at < samples / 4; at++) check(await engine.warm())
  const warm = await timeEach(samples, () => engine.warm())
  const perSecond = await countPerSecond(engine, seconds)
  // The first one starts the compiler.
  check(await engine.cold(`${snippet}// first`))
  const cold = await timeEach(colds, (at) => engine.cold(`${snippet}// ${at} of ${process.pid}`))
  return {
    "warm, per second": perSecond,
    "warm, p50 ms": quantile(warm, 0.5),
    "warm, p99 ms": quantile(warm, 0.99),
    "cold, p50 ms": quantile(cold, 0.5),
    "cold, p99 ms": quantile(cold, 0.99)
  }
}

const timeEach = async (count: number, work: (at: number) => Promise<unknown>): Promise<ReadonlyArray<number>> => {
  const times: Array<number> = []
  for (let at = 0; at < count; at++) {
    const began = performance.now()
    const result = await work(at)
    times.push(performance.now() - began)
    check(result)
  }
  return times
}

const countPerSecond = async ({ warm, clients }: SnippetEngine, seconds: number): Promise<number> => {
  const began = performance.now()
  const until = began + seconds * 1000
  let done = 0
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      await warm()
      done++
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return (done * 1000) / (performance.now() - began)
}
