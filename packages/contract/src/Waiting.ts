/** Claims for checks: what waits, and who takes it. */
import {
  type ClaimRequest,
  type EventStore,
  JournalStore,
  type RunStore,
  type TenantStore,
  type Timestamp,
  type UsageStore
} from "@weft/core"
import { Effect } from "effect"
import { nodeId, runIds } from "./Samples.ts"

export type JournalStores = JournalStore | RunStore | EventStore | UsageStore | TenantStore

/** The request of node 1 at `now`, with runs numbered from 10,000, for as many deliveries as there can be. */
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
