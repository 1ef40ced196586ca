/**
 * Counts rejected requests for the audit log, and writes the counts in a batch every second.
 *
 * Clients decide how many requests they send. Therefore a node keeps counts for a bounded number of kinds, with one entry
 * each, and counts further kinds without their actor. A crash loses the refusals of the last second, but no entry of a
 * completed action.
 */
import { Context, Effect, Latch, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import { ApiKeyId, AuditId, type EnvId, freshIds, isUuid, ServiceKeyId, SessionId } from "../../foundation/Ids.ts"
import { now } from "../../foundation/time/Timestamp.ts"
import { ApiKeyStore } from "../../tenants/access/ApiKeyStore.ts"
import { Caller, type Identity } from "../../tenants/access/Caller.ts"
import { ServiceKeyStore } from "../../tenants/access/ServiceKeyStore.ts"
import { SessionStore } from "../../tenants/access/SessionStore.ts"
import { parseToken } from "../../tenants/access/Token.ts"
import { type AuditAction, type AuditActorType, AuditEntry } from "./AuditEntry.ts"
import { formatDetails, toActor, toOriginFields } from "./AuditFacts.ts"
import { AuditStore } from "./AuditStore.ts"
import { CurrentOrigin } from "./Origin.ts"

/** Maximum kinds of refusals that are counted separately between two writes. */
const kindsMax = 100

const every = "1 second"

/** First occurrence of a kind of refusal, and the number of occurrences. */
interface Refused
  extends Pick<AuditEntry, "action" | "actor_type" | "actor_id" | "actor_api_key_id" | "request_id" | "address"> {
  readonly env_id: EnvId | null
  /** True if the actor comes from an unverified token. */
  readonly isClaimed: boolean
  readonly count: number
}

export class Refusals extends Context.Service<
  Refusals,
  {
    /** Records that the current caller lacks the permission for an action. */
    readonly permission: (action: AuditAction) => Effect.Effect<void, never, Caller>
    /** Records an invalid token. Null stands for the host's admin token. */
    readonly credential: (token: string | null) => Effect.Effect<void>
  }
>()("@weft/core/resources/audit/Refusals") {
  static readonly layer: Layer.Layer<
    Refusals,
    never,
    AuditStore | ApiKeyStore | SessionStore | ServiceKeyStore | SecureRandom.SecureRandom
  > = Layer.effect(
    Refusals,
    Effect.gen(function* () {
      const store = yield* AuditStore
      const freshId = yield* freshIds
      const findEnv = yield* makeFindEnv
      let kinds = new Map<string, Refused>()
      /** Open while there are refusals to write. */
      const pending = yield* Latch.make()

      const record = (refused: Omit<Refused, "count" | "request_id" | "address">) =>
        Effect.map(CurrentOrigin, (current) => {
          const origin = toOriginFields(current)
          const { action, actor_type, actor_id } = refused
          const key = JSON.stringify([action, actor_type, actor_id, origin.address])
          const hasCapacity = kinds.has(key) || kinds.size < kindsMax
          add(kinds, hasCapacity ? key : action, hasCapacity ? { ...refused, ...origin, count: 1 } : anonymous(action))
          pending.openUnsafe()
        })

      const toEntry = Effect.fnUntraced(function* ({ isClaimed: _, ...refused }: Refused) {
        return new AuditEntry({
          ...refused,
          audit_id: yield* freshId(AuditId),
          outcome: "refused",
          object_id: null,
          object_name: null,
          details: formatDetails(),
          created_at: yield* now
        })
      })

      /** Removes the ids of credentials that do not exist, so that invented ids do not fill the log. */
      const dropUnknownIds = Effect.fnUntraced(function* (taken: ReadonlyMap<string, Refused>) {
        const found = new Map<string, Refused>()
        for (const [key, refused] of taken) {
          const env_id = refused.isClaimed ? yield* findEnv(refused) : refused.env_id
          if (refused.isClaimed && env_id === null) {
            add(found, `authenticate ${refused.address}`, { ...refused, actor_type: "unknown", actor_id: null })
          } else add(found, key, { ...refused, env_id })
        }
        return found
      })

      const write = Effect.gen(function* () {
        if (kinds.size === 0) return
        const taken = kinds
        kinds = new Map()
        const found = yield* dropUnknownIds(taken)
        const entries = yield* Effect.forEach(found.values(), toEntry)
        yield* store.append(entries).pipe(
          Effect.catchTag("StoreUnavailable", (error) =>
            Effect.andThen(
              Effect.logWarning("The audit log is unavailable; refusals will be written later:", error.message),
              Effect.sync(() => {
                for (const [key, refused] of taken) {
                  const hasCapacity = kinds.has(key) || kinds.size < kindsMax
                  add(
                    kinds,
                    hasCapacity ? key : refused.action,
                    hasCapacity ? refused : { ...anonymous(refused.action), count: refused.count }
                  )
                }
                pending.openUnsafe()
              })
            )
          )
        )
      })

      yield* Effect.addFinalizer(() => write)
      // Waits for the latch, so that the timer only runs after a refusal.
      yield* pending.await.pipe(
        Effect.andThen(Effect.sleep(every)),
        Effect.andThen(pending.close),
        Effect.andThen(Effect.uninterruptible(write)),
        Effect.forever,
        Effect.forkScoped
      )

      return Refusals.of({
        permission: (action) =>
          Effect.flatMap(Caller, (caller) =>
            record({ action, env_id: caller.env_id, ...toActor(caller, { isAdmin: false }), isClaimed: false })
          ),
        credential: (token) =>
          record({ action: "authenticate", env_id: null, actor_api_key_id: null, ...toClaimedActor(token) })
      })
    })
  )
}

type ClaimedActor = Pick<Refused, "actor_type" | "actor_id" | "isClaimed">

const toClaimedActor = (text: string | null): ClaimedActor => {
  if (text === null) return { actor_type: "admin", actor_id: null, isClaimed: false }
  const token = parseToken(text)
  return token === null || !isUuid(token.id)
    ? { actor_type: "unknown", actor_id: null, isClaimed: false }
    : { actor_type: token.type, actor_id: token.id, isClaimed: true }
}

/** Returns a refusal without its actor. */
const anonymous = (action: AuditAction): Refused => ({
  action,
  env_id: null,
  actor_type: "unknown",
  actor_id: null,
  actor_api_key_id: null,
  isClaimed: false,
  request_id: null,
  address: null,
  count: 1
})

const add = (kinds: Map<string, Refused>, key: string, refused: Refused): void => {
  const known = kinds.get(key)
  kinds.set(key, known === undefined ? refused : { ...known, count: known.count + refused.count })
}

/** Finds the environment of a credential, or null if the credential does not exist or the store is unavailable. */
const makeFindEnv = Effect.gen(function* () {
  const apiKeys = yield* ApiKeyStore
  const sessions = yield* SessionStore
  const serviceKeys = yield* ServiceKeyStore
  return ({ actor_type, actor_id }: { readonly actor_type: AuditActorType; readonly actor_id: string | null }) => {
    if (actor_id === null) return Effect.succeed(null)
    const found: Effect.Effect<Pick<Identity, "env_id"> | null, unknown> =
      actor_type === "api-key"
        ? apiKeys.find(ApiKeyId.make(actor_id))
        : actor_type === "session"
          ? sessions.find(SessionId.make(actor_id))
          : serviceKeys.find(ServiceKeyId.make(actor_id))
    return Effect.match(found, { onSuccess: (credential) => credential?.env_id ?? null, onFailure: () => null })
  }
})
