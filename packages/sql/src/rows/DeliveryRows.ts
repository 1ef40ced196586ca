/** Rows of the table `deliveries`. */
import { Delivery } from "@weft/core/adapter"
import { Struct } from "effect"
import { deriveColumns } from "./Columns.ts"
import { makeRow } from "./Row.ts"

/** Fields without a column of their own. The column `terms` stores them as JSON text, except `cancel_key`. */
export const termFields = [
  "retry",
  "timeout_ms",
  "caused_by",
  "depth",
  "group",
  "durable",
  "awaited",
  "ttl_ms",
  "throttle",
  "on_failure",
  "recording",
  "cancel_key",
  "batch",
  "traceparent"
] as const

/** Also columns of running runs, which hold their deliveries. */
export const termColumns = { terms: "text", group_key: "text", cancel_key: "text" } as const

const columns = { ...deriveColumns(Struct.omit(Delivery.fields, termFields)), ...termColumns }

export const deliveryRow = makeRow(columns)

/** Identifies a pending delivery. */
export const pendingRow = makeRow(Struct.pick(columns, ["env_id", "due_at", "delivery_id"]))

/** The new due time of a parked delivery. */
export const unparkRow = makeRow(Struct.pick(columns, ["env_id", "delivery_id", "due_at"]))

/** The next due time of a pending delivery, and since when a throttle holds it. */
export const postponeRow = makeRow({
  ...Struct.pick(columns, ["env_id", "due_at", "delivery_id"]),
  next_due_at: "integer",
  held_since: "integer"
})

/** Values of `termColumns`. */
export interface Terms {
  readonly terms: string
  readonly group_key: string | null
  readonly cancel_key: string | null
}

/** Returns the columns of `deliveryRow`. */
export const toDeliveryRow = (delivery: Delivery): Omit<Delivery, "cancel_key"> & Terms => ({
  ...delivery,
  ...toTerms(delivery)
})

/** Returns `termColumns` of a delivery. `terms` is its stored JSON text, if it was stored. */
export const toTerms = (delivery: Delivery, terms?: string): Terms => ({
  terms: terms ?? encodeTerms(delivery),
  group_key: delivery.group?.key ?? null,
  cancel_key: delivery.cancel_key ?? null
})

const encodeTerms = (delivery: Delivery): string => {
  const { retry, timeout_ms, caused_by, depth, group, durable } = delivery
  const { awaited, ttl_ms, throttle, on_failure, recording, batch, traceparent } = delivery
  const chain = { caused_by, ...(depth === 0 ? {} : { depth }) }
  const optional = { awaited, ttl_ms, throttle, on_failure, recording, batch, traceparent }
  return JSON.stringify({ retry, timeout_ms, ...chain, group, durable, ...optional })
}
