/** Functions that the commands of the reference call and trigger. */

export const onOrder = (event) => event.event_data
onOrder.meta = { event: "order:created", schedule: "0 3 * * *" }

export const billing = { charge: (order) => ({ charged: order.id }) }

export const recorded = (order) => ({ order })
recorded.meta = { record: { inputs: true, hostCalls: true } }

export const slow = () => new Promise((resolve) => setTimeout(resolve, 60_000))

export const link = async () => {
  await svc.files.put("invoice.pdf", "bytes")
  return svc.files.url("invoice.pdf")
}

export const remind = () => null

export const answers = {}

const answer = (request) => ({ hi: request.body?.name ?? "you" })
for (const method of ["GET", "PUT", "PATCH", "DELETE", "POST"]) {
  answers[method] = Object.assign((request) => answer(request), {
    meta: { webhook: { service: "greeter", path: "/hello", method } }
  })
}

export const lookup = ({ id }) => ({ id, name: "Ada" })
lookup.meta = { tool: { service: "crm", description: "Finds a customer", input: { type: "object" } } }

export const settle = async (_, svc) => {
  await svc.step("charge", () => ({ receipt: "r-1042" }))
  await svc.sleep("settle", "2h")
}
settle.meta = { durable: true }

export const approve = async (_, svc) => {
  const token = await svc.createToken("approval", { timeout: "3d" })
  await svc.step("ask", () => svc.events.publish({ type: "approval:asked", data: { url: token.url } }))
  return svc.waitForToken(token)
}
approve.meta = { durable: true }
