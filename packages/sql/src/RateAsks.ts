/**
 * Handing out permits: one statement for all organizations that a node asks for at once.
 *
 * The clock is that of the nodes. Where one is ahead of another by some milliseconds, as many milliseconds' worth more
 * may be let through, once; where by more than `doubtMs`, the one behind does not believe what it finds.
 */
import type { OrgId, StoreUnavailable, Timestamp } from "@weft/core"
import { Effect } from "effect"
import { batched } from "./Batch.ts"
import { type Database, orUnavailable } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import { type Birth, lifeMs } from "./Permits.ts"

/** How long before its birth a permit may be handed out. */
export const aheadMs = 200

/** An organization has a full second at once when its rate changes, but no more often than this: nodes may disagree. */
const refillMs = 10_000

/** A birth so far ahead comes of a clock that was wrong. */
const doubtMs = 10_000

export interface Ask {
  readonly orgId: OrgId
  readonly perSecond: number
  /** At least 1, and at most `wantedMax`. */
  readonly wanted: number
  readonly now: Timestamp
}

/** Permits that follow each other up to `last`: fewer than were wanted only where the next is not to be had yet. */
export interface Given {
  readonly last: Birth
  readonly count: number
}

interface Row extends Birth {
  readonly org_id: OrgId
  readonly given: number
}

/** As many as an organization has that nobody asked for lately. */
export const wantedMax = (perSecond: number): number => perSecond + Math.floor((perSecond * aheadMs) / 1000)

/** Asks for organizations that are all different. The answer has each of them. */
export const rateAsks = ({ writer, dialect }: Database["Service"]) => {
  const handOut = batched<Row>(writer, dialect, {
    columns: ["text", "integer", "integer", "integer"],
    text: (rows) => `WITH ask (org_id, per_second, wanted, instant) AS (${rows})
      INSERT INTO rates (org_id, per_second, place, given, filled_at)
      SELECT org_id, per_second, (instant - ${lifeMs}) * per_second + 1000 * wanted, wanted, instant - ${refillMs}
      FROM ask WHERE true
      ON CONFLICT (org_id) DO UPDATE SET (per_second, place, given, filled_at) = (${step})`,
    returns: "org_id, place / per_second AS at, place % per_second AS parts, given"
  })

  return (asks: ReadonlyArray<Ask>): Effect.Effect<ReadonlyMap<OrgId, Given>, StoreUnavailable> => {
    const rows: Rows = []
    // In one order everywhere, so that nobody waits for each other in a circle.
    const inOrder = [...asks].sort((a, b) => (a.orgId < b.orgId ? -1 : 1))
    for (const { orgId, perSecond, wanted, now } of inOrder) rows.push(orgId, perSecond, wanted, now)
    return handOut.returning(rows).pipe(
      Effect.map(
        (found) => new Map(found.map(({ org_id, at, parts, given }) => [org_id, { last: { at, parts }, count: given }]))
      ),
      orUnavailable("take")
    )
  }
}

/**
 * What becomes of a row, `rates`, when `excluded` asks: its `given` is how many are wanted, its `filled_at` tells the time.
 * Those too old are passed over, and none is handed out longer than `aheadMs` before its birth.
 */
const instant = `(excluded.filled_at + ${refillMs})`
const isNewRate = `rates.per_second <> excluded.per_second`
const isRefilled = `${isNewRate} AND (${instant} >= rates.filled_at + ${refillMs} OR ${instant} < rates.filled_at - ${refillMs})`
const fullPlace = `(${instant} - ${lifeMs}) * excluded.per_second`
// Rounded up, so that what was handed out at another rate is not handed out again.
const place = `CASE WHEN ${isNewRate} THEN (rates.place / rates.per_second + 1) * excluded.per_second ELSE rates.place END`
const step = `
  SELECT excluded.per_second, start + 1000 * given, given, filled_at FROM (
    SELECT start, filled_at, CASE WHEN there < 0 THEN 0 WHEN there < excluded.given THEN there ELSE excluded.given END AS given
    FROM (
      SELECT start, filled_at, ((${instant} + ${aheadMs}) * excluded.per_second - start) / 1000 AS there FROM (
        SELECT
          CASE WHEN ${isRefilled} OR place < ${fullPlace} THEN ${fullPlace}
            WHEN place > (${instant} + ${doubtMs}) * excluded.per_second THEN ${instant} * excluded.per_second
            ELSE place END AS start,
          CASE WHEN ${isRefilled} THEN ${instant} ELSE rates.filled_at END AS filled_at
        FROM (SELECT ${place} AS place) AS known
      ) AS begun
    ) AS seen
  ) AS handed`
