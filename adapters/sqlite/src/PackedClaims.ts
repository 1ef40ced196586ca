/**
 * Claims as they are sent between threads: without the runs that they start, which can be derived from the rest.
 *
 * Deliveries of a function share one retry policy object, which structured cloning sends once.
 */
import { type Claim, type ClaimRequest, type ClaimResult, type Run, type RunId, startRun } from "@weft/core/adapter"

export interface PackedClaims extends Omit<ClaimResult, "claims"> {
  readonly claims: ReadonlyArray<PackedClaim>
}

interface PackedClaim extends Omit<Claim, "run"> {
  /** The run if the delivery continues it, else the id of a run that starts. */
  readonly run: Run | RunId
}

export const packClaims = ({ claims, ...rest }: ClaimResult): PackedClaims => ({
  ...rest,
  claims: claims.map((claim) => ({
    ...claim,
    run: claim.delivery.continues === null ? claim.run.run_id : claim.run
  }))
})

export const unpackClaims = ({ claims, ...rest }: PackedClaims, { lease, now }: ClaimRequest): ClaimResult => ({
  ...rest,
  claims: claims.map((claim) => ({
    ...claim,
    run: typeof claim.run === "string" ? startRun(claim.delivery, claim.run, lease.node_id, now) : claim.run
  }))
})
