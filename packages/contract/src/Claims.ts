/** Claims of pending deliveries, for checks. */
import {
  type ClaimRequest,
  type EventStore,
  JournalStore,
  type RunStore,
  type TenantStore,
  type Timestamp,
  type UsageStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import { nodeId, runIds } from "./Samples.ts"

export type JournalStores = JournalStore | RunStore | EventStore | UsageStore | TenantStore

/** A claim of node 1 at `now` for up to 1,000 deliveries, with runs numbered from 10,000. */
export const claimRequest = (now: Timestamp, fields: Partial<ClaimRequest> = {}): ClaimRequest => ({
  lease: { node_id: nodeId(1), until: now },
  now,
  runIds: runIds(10_000, 1000),
  perEnv: 1000,
  exclude: [],
  freed: [],
  ...fields
})

export const claimAll = (now: Timestamp, fields: Partial<ClaimRequest> = {}) =>
  Effect.flatMap(JournalStore, (journal) => journal.claim(claimRequest(now, fields)))
