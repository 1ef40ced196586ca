/** `POST /webhook/{org}/{env}/github/events`: checks a delivery of GitHub and publishes it as an event. */
import { webhook } from "@weft/sdk"
import { type Delivery, eventType, Payload } from "./delivery.ts"
import { isSigned } from "./signature.ts"

/** Name of the secret with which GitHub signs its deliveries. */
export const secretKey = "GITHUB_WEBHOOK_SECRET"

const endpoint = {
  service: "github",
  path: "/events",
  method: "POST",
  description: "Receives deliveries of a GitHub webhook",
  "secret-headers": ["x-hub-signature-256"]
} as const

export const receive = webhook(endpoint, async (request, svc) => {
  const event = request.headers["x-github-event"]
  const delivery = request.headers["x-github-delivery"]
  const signature = request.headers["x-hub-signature-256"]
  if (event === undefined || delivery === undefined || signature === undefined) {
    return reject(400, "x-github-event, x-github-delivery and x-hub-signature-256 are required")
  }
  const secret = await svc.context.get(secretKey)
  if (secret === null) {
    svc.log.error(`The secret ${secretKey} is missing`)
    return reject(503, "The secret is not configured")
  }
  if (!(await isSigned(request["body-raw"], signature, secret))) {
    svc.log.warn("The signature of a delivery does not match", { delivery })
    return reject(401, "The signature does not match")
  }

  const parsed = Payload.safeParse(request.body)
  if (!parsed.success) return reject(400, "The body is not a payload of GitHub")
  const action = parsed.data.action ?? null
  const data: Delivery = { delivery, event, action, payload: parsed.data }
  const type = eventType(event, action)
  const { event_id } = await svc.events.publish({ type, data })
  return { status: 202, body: { event_id, event_type: type } }
})

const reject = (status: number, error: string) => ({ status, body: { error } })
