/**
 * What a host is yet to be told: that a tenant was made. Stored with the tenant, in the same transaction, and removed
 * when the host has been told; so a node that dies in between cannot leave the host in the dark.
 */
import { Schema } from "effect"
import { addMillis, Timestamp } from "../ids/Timestamp.ts"

export const Announcement = Schema.Struct({
  kind: Schema.Literals(["org", "env"]),
  /** The id of the organization or environment. */
  tenant_id: Schema.String,
  /** How often somebody has begun to tell; also the fence of who tells now. */
  attempts: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  /** From when on the last attempt counts as failed, and any node may make the next. */
  due_at: Timestamp
})
export type Announcement = typeof Announcement.Type

/** How long a host may take to hear of one tenant, in milliseconds. */
export const tellingMs = 30_000

const firstDelayMs = 60_000
const delayMaxMs = 3_600_000

/** Of a tenant that is made at `now`, by a node that tells at once. */
export const firstAnnouncement = (kind: Announcement["kind"], tenantId: string, now: Timestamp): Announcement => ({
  kind,
  tenant_id: tenantId,
  attempts: 1,
  due_at: addMillis(now, firstDelayMs)
})

/** As it stands while somebody makes the next attempt: after 1, 2, 4, … minutes, an hour at most, it is due again. */
export const nextAnnouncement = (announcement: Announcement, now: Timestamp): Announcement => ({
  ...announcement,
  attempts: announcement.attempts + 1,
  due_at: addMillis(now, Math.min(firstDelayMs * 2 ** announcement.attempts, delayMaxMs))
})
