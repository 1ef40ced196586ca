/**
 * Completes tokens of durable runs: by their secret, which is part of their URL, or by a caller who may call the function.
 */
import { Clock, Context, Effect, Layer, Redacted, type Schema } from "effect"
import { Digest } from "effect/crypto"
import {
  BadRequest,
  type Forbidden,
  NotFound,
  RateLimited,
  type StoreUnavailable,
  TokenCompleted,
  TokenExpired
} from "../../foundation/Errors.ts"
import { toJsonText } from "../../foundation/JsonText.ts"
import { now as currentTime, iso, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { utf8Length } from "../../foundation/Utf8.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { AuditEntry } from "../../resources/audit/AuditEntry.ts"
import { makeEntries } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { CurrentOrigin } from "../../resources/audit/Origin.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import { hashSecret, isSameHash } from "../../tenants/access/Token.ts"
import { RateLimits } from "../../tenants/orgs/RateLimits.ts"
import { formatTokenId, isOpen, type WorkflowToken } from "../runs/WorkflowToken.ts"
import { type FoundToken, WorkflowTokenStore } from "../runs/WorkflowTokenStore.ts"
import { Rates } from "../svc/host/Rates.ts"
import { makeFindCallable } from "./callableRun.ts"

/** Maximum data of a completion, in bytes of JSON text: 256 KiB. */
const tokenDataBytesMax = 256 * 1024

/** Requests of one client address with secrets, per node. */
const addressRate = { calls: 100, perMs: 10_000 }

/** A completed token, without its data. */
export interface CompletedToken extends Pick<WorkflowToken, "run_id" | "name"> {
  readonly token_id: string
  readonly completed_at: Timestamp
}

type SecretError = NotFound | RateLimited | StoreUnavailable
type CompletionError = BadRequest | NotFound | TokenCompleted | TokenExpired | StoreUnavailable

export class Tokens extends Context.Service<
  Tokens,
  {
    /**
     * Completes the token with this secret; `data` is null by default. Fails with `NotFound` for an unknown secret, and
     * with `TokenCompleted` after the first completion. After the token's time or the end of its run, with `TokenExpired`.
     */
    readonly complete: (
      secret: string,
      data?: Schema.Json
    ) => Effect.Effect<CompletedToken, SecretError | CompletionError>
    /** Returns the name of the token with this secret, if it may be completed. Fails as `complete` otherwise. */
    readonly look: (secret: string) => Effect.Effect<string, SecretError | TokenCompleted | TokenExpired>
    /**
     * Completes the token of a run with this name, of several the last one. Fails as `complete`. Requires `call: create` on
     * the function of the run.
     */
    readonly completeNamed: (
      runId: string,
      name: string,
      data?: Schema.Json
    ) => Effect.Effect<CompletedToken, Forbidden | CompletionError, Caller>
  }
>()("@weft/core/runtime/control/Tokens") {
  static readonly layer = Layer.effect(
    Tokens,
    Effect.gen(function* () {
      const store = yield* WorkflowTokenStore
      const audit = yield* AuditStore
      const bus = yield* ClusterBus
      const entries = yield* makeEntries
      const findCallable = yield* makeFindCallable
      const find = yield* makeFind

      const complete = Effect.fnUntraced(function* (
        { env_id, run_id, seq, name }: WorkflowToken,
        data: Schema.Json,
        isHolder: boolean
      ) {
        const text = toJsonText(data)
        const bytes = utf8Length(text)
        if (bytes > tokenDataBytesMax) {
          const reason = `data must have at most ${tokenDataBytesMax} bytes of JSON (got ${bytes})`
          return yield* new BadRequest({ reason })
        }
        const token_id = formatTokenId({ run_id, seq })
        const facts = { action: "token.complete", env_id, object_id: token_id, object_name: name } as const
        const base = (yield* entries)(facts)
        const entry = isHolder ? new AuditEntry({ ...base, actor_type: "token", actor_id: token_id }) : base
        const at = yield* currentTime
        const completion = yield* audit.within(store.complete({ env_id, run_id, seq }, text, at), (done) =>
          done?.isNew === true ? entry : null
        )
        if (completion === null) return yield* new NotFound({ resource: "token" })
        if (!completion.isNew) return yield* refusal(completion, at)
        yield* bus.sendControl([
          { type: "workflows:arrived", run_ids: [run_id] },
          { type: "deliveries:waiting", node_id: null }
        ])
        return { token_id, run_id, name, completed_at: at }
      }, Effect.uninterruptible)

      return Tokens.of({
        complete: (secret, data = null) => Effect.flatMap(find(secret), ({ token }) => complete(token, data, true)),

        look: Effect.fnUntraced(function* (secret) {
          const found = yield* find(secret)
          const at = yield* currentTime
          return isOpen(found.token, found.isRunning, at) ? found.token.name : yield* refusal(found, at)
        }),

        completeNamed: Effect.fnUntraced(function* (runId, name, data = null) {
          const run = yield* findCallable(runId)
          const found = yield* store.findNamed(run, name)
          if (found === null) return yield* new NotFound({ resource: "token" })
          return yield* complete(found.token, data, false)
        })
      })
    })
  )
}

/** Returns a function that finds a token by its secret, at a limited rate of the client and of the organization. */
const makeFind = Effect.gen(function* () {
  const store = yield* WorkflowTokenStore
  const rates = yield* RateLimits
  const digest = yield* Digest.Digest
  const addresses = new Rates(addressRate)

  return Effect.fnUntraced(function* (secret: string): Effect.fn.Return<FoundToken, SecretError> {
    const address = (yield* CurrentOrigin).address()
    const waitMs = address === null ? 0 : addresses.take(address, yield* Clock.currentTimeMillis)
    if (waitMs > 0) return yield* new RateLimited({ retryAfterSeconds: Math.ceil(waitMs / 1000) })
    if (!secretForm.test(secret)) return yield* unknownToken
    const hash = yield* Effect.provideService(hashSecret(Redacted.make(secret)), Digest.Digest, digest)
    const found = yield* store.find(hash)
    if (found === null || !isSameHash(found.token.token_hash, hash)) return yield* unknownToken
    yield* rates.check(found.token.env_id)
    return found
  })
})

/** 32 bytes in base64url. */
const secretForm = /^[\w-]{43}$/

const unknownToken = new NotFound({ resource: "token" })

/** Returns why a token cannot be completed at `at`. */
const refusal = ({ token, isRunning }: FoundToken, at: Timestamp): TokenCompleted | TokenExpired => {
  const { completed_at, expires_at } = token
  if (completed_at !== null) return new TokenCompleted({ completed_at: iso(completed_at) })
  if (!isRunning) return new TokenExpired({ reason: "The token has expired, because its run has ended" })
  return new TokenExpired({ reason: `The token expired at ${iso(expires_at ?? at)}` })
}
