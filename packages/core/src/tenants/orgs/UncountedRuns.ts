/**
 * Runs of this node that the stored usage of their organization does not contain yet, because no response waits for it.
 *
 * They count against the plan together with the stored usage. If a quota is read while such runs are being stored, they may
 * count twice for 5 s, and never less than once.
 */
import type { OrgId } from "../../foundation/Ids.ts"
import { InFlightMap } from "../../foundation/InFlightMap.ts"

export class UncountedRuns {
  readonly #runs = new InFlightMap<OrgId, number>()

  add(orgId: OrgId, runs: number): void {
    const sum = this.of(orgId) + runs
    if (sum === 0) this.#runs.delete(orgId)
    else this.#runs.set(orgId, sum)
  }

  /** Subtracts runs that are now stored. */
  subtract(orgId: OrgId, runs: number): void {
    this.add(orgId, -runs)
  }

  of(orgId: OrgId): number {
    return this.#runs.get(orgId) ?? 0
  }
}
