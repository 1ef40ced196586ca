/** An order: reserve, charge, ship. If a step fails for good, the completed ones are undone in reverse order. */
import { type DurableSvc, durable, type StepContext } from "@weft/sdk"
import * as z from "zod"
import { post } from "./post.ts"

const Order = z.object({ id: z.string(), amount: z.number().positive() })

const Receipt = z.object({ receipt: z.string() })

const options = { event: "order:created", data: Order, retry: { attempts: 3, delay: "10s" } } as const

export const fulfil = durable(options, async (event, svc) => {
  const order = event.event_data
  const undos: Array<Undo> = []
  try {
    await svc.step("reserve", (step) => post("/stock/reserve", order, step))
    undos.push(["release", (step) => post("/stock/release", order, step)])
    const payment = await svc.step("charge", async (step) => Receipt.parse(await post("/payments", order, step)))
    undos.push(["refund", (step) => post("/refunds", payment, step)])
    await svc.step("ship", (step) => post("/parcels", order, step))
    return { status: "shipped", receipt: payment.receipt }
  } catch (error) {
    await undoAll(svc, undos)
    return { status: "cancelled", reason: String(error) }
  }
})

type Undo = readonly [name: string, body: (step: StepContext) => Promise<unknown>]

/** Undoes the completed steps, the latest first. The steps have many attempts, because nobody else undoes them. */
const undoAll = async (svc: DurableSvc, undos: ReadonlyArray<Undo>): Promise<void> => {
  for (const [name, body] of undos.toReversed()) {
    await svc.step(name, body, { retry: { attempts: 20, delay: "1m" } })
  }
}
