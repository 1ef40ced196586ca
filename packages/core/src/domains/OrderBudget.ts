/**
 * How many certificates an organization may have ordered by this node. Authorities count orders for all tenants together:
 * whoever adds names, and removes them, and adds others, is not to use up what there is.
 */
import type { OrgId } from "../ids/Ids.ts"
import { addMillis, type Timestamp } from "../ids/Timestamp.ts"

/** Orders in an hour: half of what the strictest well-known authority takes from one account. */
export const ordersPerHour = 50

const hourMs = 3_600_000

export class OrderBudget {
  /** When the orders of the last hour were made, the first one first. */
  readonly #made = new Map<OrgId, ReadonlyArray<Timestamp>>()

  /** Null when the organization may order now, which counts from here on; else when it may again. */
  take(orgId: OrgId, now: Timestamp): Timestamp | null {
    const recent = this.#recent(orgId, now)
    const [first] = recent
    if (first !== undefined && recent.length >= ordersPerHour) return addMillis(first, hourMs)
    this.#made.set(orgId, [...recent, now])
    return null
  }

  /** What was taken at `at` was no order. */
  giveBack(orgId: OrgId, at: Timestamp): void {
    const made = this.#made.get(orgId) ?? []
    const place = made.indexOf(at)
    if (place !== -1) this.#made.set(orgId, made.toSpliced(place, 1))
  }

  #recent(orgId: OrgId, now: Timestamp): ReadonlyArray<Timestamp> {
    const recent = (this.#made.get(orgId) ?? []).filter((at) => at > now - hourMs)
    if (recent.length === 0) this.#made.delete(orgId)
    return recent
  }
}
