/** `POST /webhook/{org}/{env}/github/events`: checks a delivery of GitHub and publishes it as an event. */
import { webhook } from "@weft/sdk"
import { type Delivery, eventType, Payload } from "./delivery.ts"
import { isSigned } from "./signature.ts"

/** The context variable that holds what GitHub signs its deliveries with. */
export const secretKey = "GITHUB_WEBHOOK_SECRET"

const endpoint = {
  service: "github",
  path: "/events",
  method: "POST",
  description: "Takes deliveries of a GitHub webhook",
  "secret-headers": ["x-hub-signature-256"]
} as const

export const receive = webhook(endpoint, async (request, svc) => {
  const event = request.headers["x-github-event"]
  const delivery = request.headers["x-github-delivery"]
  const signature = request.headers["x-hub-signature-256"]
  if (event === undefined || delivery === undefined || signature === undefined) {
    return refuse(400, "A delivery has x-github-event, x-github-delivery and x-hub-signature-256")
  }
  const secret = await svc.context.get(secretKey)
  if (secret === null) {
    svc.log.error(`The context variable ${secretKey} is missing`)
    return refuse(503, "No secret is set up")
  }
  if (!(await isSigned(request["body-raw"], signature, secret))) {
    svc.log.warn("A delivery was not signed with our secret", { delivery })
    return refuse(401, "The signature does not match")
  }

  const parsed = Payload.safeParse(request.body)
  if (!parsed.success) return refuse(400, "The body is not a payload of GitHub")
  const action = parsed.data.action ?? null
  const data: Delivery = { delivery, event, action, payload: parsed.data }
  const type = eventType(event, action)
  const { event_id } = await svc.events.publish({ type, data })
  return { status: 202, body: { event_id, event_type: type } }
})

const refuse = (status: number, error: string) => ({ status, body: { error } })
