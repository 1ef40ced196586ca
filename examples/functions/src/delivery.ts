/** The event data of a webhook delivery of GitHub. */
import * as z from "zod"

/** Required form of a payload. Other fields are kept unchanged. */
export const Payload = z.looseObject({ action: z.string().min(1).nullish() })
export type Payload = z.infer<typeof Payload>

export const Delivery = z.object({
  /** GitHub's id of the delivery. */
  delivery: z.string(),
  /** GitHub's name of the event, such as `pull_request`. */
  event: z.string(),
  action: z.string().nullable(),
  payload: z.looseObject({})
})
export type Delivery = z.infer<typeof Delivery>

/** Returns `github:<event>` or `github:<event>:<action>`. */
export const eventType = (event: string, action: string | null): string =>
  action === null ? `github:${event}` : `github:${event}:${action}`

/** Creates the schema of a delivery with this payload. */
export const deliveryWith = <Payload extends z.ZodType>(payload: Payload) => Delivery.extend({ payload })
