import type { EnvId } from "@weft/core"
import type { Outbox } from "@weft/postgres"
import type { Pool } from "pg"

/** Stores an order and publishes `order:created`: both or, when anything fails, neither. */
export const placeOrder = async (pool: Pool, outbox: Outbox, envId: EnvId, order: { id: string; total: number }) => {
  const client = await pool.connect()
  try {
    await client.query("BEGIN")
    await client.query("INSERT INTO orders (id, total) VALUES ($1, $2)", [order.id, order.total])
    const event = await outbox.publish(client, envId, { type: "order:created", data: order })
    await client.query("COMMIT")
    return event
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
}
