/**
 * Allocation of permits: one statement for all organizations of a request.
 *
 * Times are those of the nodes' clocks. A clock that is ahead by some milliseconds may exceed the rate once by the permits
 * of this time. A node ignores a stored time that is more than `clockSkewMaxMs` ahead of its own clock.
 */
import type { OrgId, StoreUnavailable } from "@weft/core"
import type { Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import { batched } from "./Batch.ts"
import { type Database, orUnavailable } from "./Database.ts"
import { type PermitTime, permitLifetimeMs } from "./Permits.ts"
import { makeRow } from "./rows/Row.ts"

/** Maximum time between the allocation of a permit and its `PermitTime`, in milliseconds. */
export const aheadMs = 200

/**
 * Minimum time between two refills, in milliseconds. A changed rate refills the bucket with a full second. Nodes may
 * briefly disagree on the rate.
 */
const refillMs = 10_000

/** Maximum clock difference between nodes, in milliseconds. A time further ahead comes from a wrong clock. */
const clockSkewMaxMs = 10_000

export interface PermitRequest {
  readonly orgId: OrgId
  readonly perSecond: number
  /** At least 1, and at most `wantedMax`. */
  readonly wanted: number
  readonly now: Timestamp
}

/** Consecutive permits up to `last`. Fewer than requested only if the next one is not available yet. */
export interface PermitGrant {
  readonly last: PermitTime
  readonly count: number
}

const requestRow = makeRow({ org_id: "text", per_second: "integer", wanted: "integer", instant: "integer" })

interface Granted extends PermitTime {
  readonly org_id: OrgId
  readonly given: number
}

/** Returns the maximum permits of one allocation: those of an organization without recent requests. */
export const wantedMax = (perSecond: number): number => perSecond + Math.floor((perSecond * aheadMs) / 1000)

/** Returns a function that allocates permits to different organizations. Its result has each of them. */
export const makePermitAllocator = ({ writer, dialect }: Database["Service"]) => {
  const allocate = batched<Granted>(writer, dialect, {
    row: requestRow,
    text: (rows) => `WITH ask (${requestRow.list}) AS (${rows})
      INSERT INTO rates (org_id, per_second, place, given, filled_at)
      SELECT org_id, per_second, (instant - ${permitLifetimeMs}) * per_second + 1000 * wanted, wanted, instant - ${refillMs}
      FROM ask WHERE true
      ON CONFLICT (org_id) DO UPDATE SET (per_second, place, given, filled_at) = (${step})`,
    returns: "org_id, place / per_second AS at, place % per_second AS parts, given"
  })

  return (requests: ReadonlyArray<PermitRequest>): Effect.Effect<ReadonlyMap<OrgId, PermitGrant>, StoreUnavailable> => {
    // Always in the same order, so that transactions cannot deadlock.
    const inOrder = [...requests].sort((a, b) => (a.orgId < b.orgId ? -1 : 1))
    const rows = requestRow.encode(
      inOrder.map(({ orgId, perSecond, wanted, now }) => ({
        org_id: orgId,
        per_second: perSecond,
        wanted,
        instant: now
      }))
    )
    return allocate.returning(rows).pipe(
      Effect.map(
        (found) => new Map(found.map(({ org_id, at, parts, given }) => [org_id, { last: { at, parts }, count: given }]))
      ),
      orUnavailable("take")
    )
  }
}

/**
 * SQL of the new state of a row of `rates`. In `excluded`, `given` is the requested number of permits, and `filled_at` is
 * derived from the node's time. Expired permits are skipped, and none is allocated more than `aheadMs` early.
 */
const instant = `(excluded.filled_at + ${refillMs})`
const isNewRate = `rates.per_second <> excluded.per_second`
const isRefilled = `${isNewRate} AND (${instant} >= rates.filled_at + ${refillMs} OR ${instant} < rates.filled_at - ${refillMs})`
const fullPlace = `(${instant} - ${permitLifetimeMs}) * excluded.per_second`
// Rounded up, so that no permit allocated at another rate is allocated again.
const place = `CASE WHEN ${isNewRate} THEN (rates.place / rates.per_second + 1) * excluded.per_second ELSE rates.place END`
const step = `
  SELECT excluded.per_second, start + 1000 * given, given, filled_at FROM (
    SELECT start, filled_at, CASE WHEN there < 0 THEN 0 WHEN there < excluded.given THEN there ELSE excluded.given END AS given
    FROM (
      SELECT start, filled_at, ((${instant} + ${aheadMs}) * excluded.per_second - start) / 1000 AS there FROM (
        SELECT
          CASE WHEN ${isRefilled} OR place < ${fullPlace} THEN ${fullPlace}
            WHEN place > (${instant} + ${clockSkewMaxMs}) * excluded.per_second THEN ${instant} * excluded.per_second
            ELSE place END AS start,
          CASE WHEN ${isRefilled} THEN ${instant} ELSE rates.filled_at END AS filled_at
        FROM (SELECT ${place} AS place) AS known
      ) AS begun
    ) AS seen
  ) AS handed`
