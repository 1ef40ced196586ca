/** A webhook delivery of GitHub, as it travels in our events. */
import * as z from "zod"

/** What a delivery must be to be taken in. Everything else in it is kept as it came. */
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

/** `github:<event>` or `github:<event>:<action>`. */
export const eventType = (event: string, action: string | null): string =>
  action === null ? `github:${event}` : `github:${event}:${action}`

/** A delivery with a payload of this shape. */
export const deliveryOf = <Payload extends z.ZodType>(payload: Payload) => Delivery.extend({ payload })
