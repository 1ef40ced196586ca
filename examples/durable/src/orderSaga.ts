/** An order: reserve, charge, ship. If a step fails for good, the completed ones are undone in reverse order. */
import { durable } from "@weft/sdk"
import * as z from "zod"
import { post } from "./post.ts"

const Order = z.object({ id: z.string(), amount: z.number().positive() })

const Receipt = z.object({ receipt: z.string() })

const options = { event: "order:created", data: Order, retry: { attempts: 3, delay: "10s" } } as const

/** An undo has many attempts, because nobody else repeats it. It has the policy of its step. */
const persistent = { retry: { attempts: 20, delay: "1m" } } as const

export const fulfil = durable(options, async (event, svc) => {
  const order = event.event_data
  const saga = svc.saga()
  await saga.step(
    "reserve",
    (step) => post("/stock/reserve", order, step),
    (_, step) => post("/stock/release", order, step),
    persistent
  )
  const payment = await saga.step(
    "charge",
    async (step) => Receipt.parse(await post("/payments", order, step)),
    (paid, step) => post("/refunds", paid, step),
    persistent
  )
  await svc.step("ship", (step) => post("/parcels", order, step))
  return { status: "shipped", receipt: payment.receipt }
})
