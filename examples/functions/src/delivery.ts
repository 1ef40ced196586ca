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

/** Reads the payload out of an event's data. Throws, naming the field, when it is not of that shape. */
export const payloadOf = <Shape extends z.ZodType>(data: unknown, shape: Shape): z.infer<Shape> => {
  const { event, payload } = Delivery.parse(data)
  const parsed = shape.safeParse(payload)
  if (!parsed.success) throw new TypeError(`A ${event} payload is not as expected:\n${z.prettifyError(parsed.error)}`)
  return parsed.data
}
