/**
 * What was refused, for the audit log: counted, and written together once in a second.
 *
 * Whoever is refused decides how often. So a node remembers a bounded number of kinds, writes one entry for each, and
 * counts what is more without saying whose it was. An end by force loses the refusals of the last second, never
 * what was done.
 */
import { Context, Effect, Latch, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import { ApiKeyStore } from "../access/ApiKeyStore.ts"
import { Caller, type Identity } from "../access/Caller.ts"
import { ServiceKeyStore } from "../access/ServiceKeyStore.ts"
import { SessionStore } from "../access/SessionStore.ts"
import { parseToken } from "../access/Token.ts"
import { ApiKeyId, AuditId, type EnvId, freshIds, isUuid, ServiceKeyId, SessionId } from "../ids/Ids.ts"
import { now } from "../ids/Timestamp.ts"
import { type AuditAction, type AuditActorType, AuditEntry } from "./AuditEntry.ts"
import { actorOf, detailsText, originOf } from "./AuditFacts.ts"
import { AuditStore } from "./AuditStore.ts"
import { CurrentOrigin } from "./Origin.ts"

/** Kinds of refusals that are told apart until they are written. */
const kindsMax = 100

const every = "1 second"

/** Its first occurrence, and how many there were. */
interface Refused
  extends Pick<AuditEntry, "action" | "actor_type" | "actor_id" | "actor_api_key_id" | "request_id" | "address"> {
  readonly env_id: EnvId | null
  /** Whether only a token said who it was. */
  readonly isClaimed: boolean
  readonly count: number
}

export class Refusals extends Context.Service<
  Refusals,
  {
    /** The current caller may not do this. */
    readonly permission: (action: AuditAction) => Effect.Effect<void, never, Caller>
    /** Nobody is who this token says; null for the host's own. */
    readonly credential: (token: string | null) => Effect.Effect<void>
  }
>()("@weft/core/audit/Refusals") {
  static readonly layer: Layer.Layer<
    Refusals,
    never,
    AuditStore | ApiKeyStore | SessionStore | ServiceKeyStore | SecureRandom.SecureRandom
  > = Layer.effect(
    Refusals,
    Effect.gen(function* () {
      const store = yield* AuditStore
      const freshId = yield* freshIds
      const envOf = yield* makeEnvOf
      let kinds = new Map<string, Refused>()
      /** Open while there is something to write. */
      const some = yield* Latch.make()

      const note = (refused: Omit<Refused, "count" | "request_id" | "address">) =>
        Effect.map(CurrentOrigin, (current) => {
          const origin = originOf(current)
          const { action, actor_type, actor_id } = refused
          const key = JSON.stringify([action, actor_type, actor_id, origin.address])
          const isRoom = kinds.has(key) || kinds.size < kindsMax
          add(kinds, isRoom ? key : action, isRoom ? { ...refused, ...origin, count: 1 } : anybody(action))
          some.openUnsafe()
        })

      const entryOf = Effect.fnUntraced(function* ({ isClaimed: _, ...refused }: Refused) {
        return new AuditEntry({
          ...refused,
          audit_id: yield* freshId(AuditId),
          outcome: "refused",
          object_id: null,
          object_name: null,
          details: detailsText(),
          created_at: yield* now
        })
      })

      /** Ids that nobody has are of nobody, so that made-up ones do not fill the log. */
      const known = Effect.fnUntraced(function* (taken: ReadonlyMap<string, Refused>) {
        const found = new Map<string, Refused>()
        for (const [key, refused] of taken) {
          const env_id = refused.isClaimed ? yield* envOf(refused) : refused.env_id
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
        const found = yield* known(taken)
        const entries = yield* Effect.forEach(found.values(), entryOf)
        yield* store.append(entries).pipe(
          Effect.catchTag("StoreUnavailable", (error) =>
            Effect.andThen(
              Effect.logWarning("Refusals are kept until the audit log can be written:", error.message),
              Effect.sync(() => {
                for (const [key, refused] of taken) {
                  const isRoom = kinds.has(key) || kinds.size < kindsMax
                  add(
                    kinds,
                    isRoom ? key : refused.action,
                    isRoom ? refused : { ...anybody(refused.action), count: refused.count }
                  )
                }
                some.openUnsafe()
              })
            )
          )
        )
      })

      yield* Effect.addFinalizer(() => write)
      // Where nobody is refused, nothing wakes up.
      yield* some.await.pipe(
        Effect.andThen(Effect.sleep(every)),
        Effect.andThen(some.close),
        Effect.andThen(Effect.uninterruptible(write)),
        Effect.forever,
        Effect.forkScoped
      )

      return Refusals.of({
        permission: (action) =>
          Effect.flatMap(Caller, (caller) =>
            note({ action, env_id: caller.env_id, ...actorOf(caller, { isAdmin: false }), isClaimed: false })
          ),
        credential: (token) => note({ action: "authenticate", env_id: null, actor_api_key_id: null, ...claimed(token) })
      })
    })
  )
}

type Claimed = Pick<Refused, "actor_type" | "actor_id" | "isClaimed">

const claimed = (text: string | null): Claimed => {
  if (text === null) return { actor_type: "admin", actor_id: null, isClaimed: false }
  const token = parseToken(text)
  return token === null || !isUuid(token.id)
    ? { actor_type: "unknown", actor_id: null, isClaimed: false }
    : { actor_type: token.type, actor_id: token.id, isClaimed: true }
}

/** What is counted without saying whose it was. */
const anybody = (action: AuditAction): Refused => ({
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

/** The environment of a credential; null when there is none, or nobody can say now. */
const makeEnvOf = Effect.gen(function* () {
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
    return Effect.match(found, { onSuccess: (held) => held?.env_id ?? null, onFailure: () => null })
  }
})
