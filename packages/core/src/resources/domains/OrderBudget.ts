/**
 * Limits the certificate orders of each organization on this node. All tenants share an account with the authority,
 * which limits its orders. One tenant must not use up that limit by adding and removing names.
 */
import type { OrgId } from "../../foundation/Ids.ts"
import { addMillis, type Timestamp } from "../../foundation/time/Timestamp.ts"

/** Maximum orders per hour: half the limit per account of the strictest well-known authority. */
export const ordersPerHour = 50

const hourMs = 3_600_000

export class OrderBudget {
  /** Times of the orders within the last hour, the oldest first. */
  readonly #orders = new Map<OrgId, ReadonlyArray<Timestamp>>()

  /** Counts an order and returns null, or returns the time from which the organization may order again. */
  take(orgId: OrgId, now: Timestamp): Timestamp | null {
    const recent = this.#recent(orgId, now)
    const [first] = recent
    if (first !== undefined && recent.length >= ordersPerHour) return addMillis(first, hourMs)
    this.#orders.set(orgId, [...recent, now])
    return null
  }

  /** Removes the order counted at `at`, which was not placed. */
  refund(orgId: OrgId, at: Timestamp): void {
    const orders = this.#orders.get(orgId) ?? []
    const index = orders.indexOf(at)
    if (index !== -1) this.#orders.set(orgId, orders.toSpliced(index, 1))
  }

  #recent(orgId: OrgId, now: Timestamp): ReadonlyArray<Timestamp> {
    const recent = (this.#orders.get(orgId) ?? []).filter((at) => at > now - hourMs)
    if (recent.length === 0) this.#orders.delete(orgId)
    return recent
  }
}
