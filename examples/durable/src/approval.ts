/** An expense waits for a decision for three days, with a reminder after one. The decision arrives as an event. */
import { durable } from "@weft/sdk"
import * as z from "zod"

const Expense = z.object({ id: z.string(), amount: z.number(), approver: z.email() })

const Decision = z.object({ approved: z.boolean() })

export const approve = durable({ event: "expense:filed", data: Expense }, async (event, svc) => {
  const { id, amount, approver } = event.event_data
  const mail = (name: string, text: string) =>
    svc.step(name, () => svc.events.publish({ type: "mail:wanted", data: { to: approver, text } }))
  const decided = (name: string, timeout: "1d" | "2d") =>
    svc.waitForEvent(name, { event: "expense:decided", match: { id }, timeout })

  await mail("ask", `Please decide on expense ${id} of ${amount} €`)
  let decision = await decided("decision", "1d")
  if (decision === null) {
    await mail("remind", `Expense ${id} still waits for you`)
    decision = await decided("late decision", "2d")
  }
  if (decision === null) return { status: "expired" }
  return { status: Decision.parse(decision.event_data).approved ? "approved" : "rejected" }
})
