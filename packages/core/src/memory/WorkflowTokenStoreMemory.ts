/** `WorkflowTokenStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { RunId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import { parkedAt } from "../runtime/runs/Group.ts"
import {
  formatCompletion,
  formatTokenId,
  isOpen,
  type TokenRef,
  type WorkflowToken
} from "../runtime/runs/WorkflowToken.ts"
import { WorkflowTokenStore } from "../runtime/runs/WorkflowTokenStore.ts"
import { isSameHash } from "../tenants/access/Token.ts"
import { MemoryDatabase } from "./MemoryDatabase.ts"

type Database = MemoryDatabase["Service"]

export const layer: Layer.Layer<WorkflowTokenStore, never, MemoryDatabase> = Layer.effect(
  WorkflowTokenStore,
  Effect.gen(function* () {
    const db = yield* MemoryDatabase
    const { tokens, runs, deliveries } = db

    const get = (ref: TokenRef): WorkflowToken | null => {
      const token = tokens.get(formatTokenId(ref))
      return token?.env_id === ref.env_id ? token : null
    }
    const put = (token: WorkflowToken): WorkflowToken => {
      tokens.set(formatTokenId(token), token)
      return token
    }
    const isRunning = ({ run_id }: TokenRef) => runs.get(run_id)?.status === "running"
    const toFound = (token: WorkflowToken | undefined) =>
      token === undefined ? null : { token, isRunning: isRunning(token) }

    return WorkflowTokenStore.of({
      create: (token, deliveryId) =>
        Effect.sync(() => {
          const isHeld = deliveries.get(deliveryId)?.run_id === token.run_id && isRunning(token)
          return isHeld && runs.get(token.run_id)?.env_id === token.env_id ? (get(token) ?? put(token)) : null
        }),

      list: (run) => Effect.sync(() => tokensOf(db, run.run_id).filter(({ env_id }) => env_id === run.env_id)),

      get: (ref) => Effect.sync(() => get(ref)),

      find: (hash) =>
        Effect.sync(() => toFound([...tokens.values()].find(({ token_hash }) => isSameHash(token_hash, hash)))),

      findNamed: (run, name) =>
        Effect.sync(() =>
          toFound(tokensOf(db, run.run_id).findLast((token) => token.env_id === run.env_id && token.name === name))
        ),

      complete: (ref, data, at) =>
        Effect.sync(() => {
          const token = get(ref)
          if (token === null) return null
          if (!isOpen(token, isRunning(token), at)) return { token, isRunning: isRunning(token), isNew: false }
          endWaitsFor(db, { ...token, result: data }, at)
          const completed = put({ ...token, state: "completed", completed_at: at, result: data })
          return { token: completed, isRunning: true, isNew: true }
        }),

      expire: (ref) =>
        Effect.sync(() => {
          const token = get(ref)
          return token?.state === "pending" ? put({ ...token, state: "expired" }) : token
        })
    })
  })
)

const tokensOf = ({ tokens }: Database, runId: RunId): ReadonlyArray<WorkflowToken> =>
  [...tokens.values()].filter(({ run_id }) => run_id === runId).sort((a, b) => a.seq - b.seq)

/** Gives the data of a token to the waits for it, and makes its run due. */
const endWaitsFor = (
  { histories, deliveries }: Database,
  { run_id, seq, result }: WorkflowToken,
  at: Timestamp
): void => {
  const history = histories.get(run_id)
  if (history === undefined || result === null) return
  const isFor = (wait: (typeof history.waits)[number]) => wait.token_seq === seq && wait.outcome === null
  if (!history.waits.some(isFor)) return
  const outcome = formatCompletion(result)
  histories.set(run_id, {
    ...history,
    waits: history.waits.map((wait) => (isFor(wait) ? { ...wait, outcome } : wait))
  })
  for (const [id, row] of deliveries) {
    const { delivery } = row
    if (row.run_id !== null || delivery.continues !== run_id) continue
    if (delivery.due_at > at && delivery.due_at !== parkedAt)
      deliveries.set(id, { ...row, delivery: { ...delivery, due_at: at } })
  }
}
