/** Storage quotas of a plan, and their remaining bytes (decisions section 4). */
import { Effect } from "effect"
import { BadRequest, PlanRequired, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import type { Bound } from "./BoundedContent.ts"
import { FileStore, type StoreTerms } from "./FileStore.ts"

export interface Allowance extends Pick<StoreTerms, "org_id" | "storage_bytes"> {
  /** Maximum size of a file in bytes; -1 for unlimited. */
  readonly fileBytes: number
}

export interface Quota {
  readonly allowance: (envId: EnvId) => Effect.Effect<Allowance, BadRequest | StoreUnavailable>
  /** Returns the size limits of a file or part that replaces `replacedBytes` bytes. */
  readonly bounds: (
    allowance: Allowance,
    replacedBytes: Effect.Effect<number, StoreUnavailable>
  ) => Effect.Effect<ReadonlyArray<Bound>, StoreUnavailable>
}

export const makeQuota: Effect.Effect<Quota, never, Plans | FileStore> = Effect.gen(function* () {
  const plans = yield* Plans
  const store = yield* FileStore

  return {
    allowance: (envId) =>
      plans.of(envId).pipe(
        Effect.map(({ org, plan }) => ({
          org_id: org.org_id,
          storage_bytes: plan.storage_bytes,
          fileBytes: plan.max_file_bytes
        })),
        // Only the host can pass the id of an environment that does not exist.
        Effect.catchTag("NotFound", (error) => Effect.fail(new BadRequest({ reason: error.message })))
      ),

    bounds: Effect.fnUntraced(function* (allowance, replacedBytes) {
      const bounds: Array<Bound> = []
      const { fileBytes, storage_bytes, org_id } = allowance
      if (fileBytes !== -1) bounds.push({ bytes: fileBytes, refusal: fileTooLarge(fileBytes) })
      if (storage_bytes !== -1) {
        const others = (yield* store.storageBytes(org_id)) - (yield* replacedBytes)
        bounds.push({ bytes: Math.max(0, storage_bytes - others), refusal: storageFull(storage_bytes) })
      }
      return bounds
    })
  }
})

export const fileTooLarge = (bytes: number): PlanRequired =>
  new PlanRequired({ reason: `The plan allows files of at most ${bytes} bytes` })

export const storageFull = (bytes: number): PlanRequired =>
  new PlanRequired({ reason: `Storage quota exceeded: the plan allows ${bytes} bytes` })
