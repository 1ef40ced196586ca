/**
 * The tokens of a durable run during one activation.
 *
 * The database has the secret of a token only as a hash and encrypted. So the recorded result of `createToken` has no
 * secret, and each replay adds it again.
 */
import { Effect, Redacted, Schedule } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { logOutage } from "../../foundation/Supervised.ts"
import { now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import { PublicUrl } from "../../resources/files/PublicUrl.ts"
import { hashSecret, isSameHash } from "../../tenants/access/Token.ts"
import type { Claim } from "../journal/JournalStore.ts"
import type { History, StepRecord, WaitRecord } from "../runs/Workflow.ts"
import { formatCompletion, formatTokenId, tokenPlace, tokenTimeout, type WorkflowToken } from "../runs/WorkflowToken.ts"
import { WorkflowTokenStore } from "../runs/WorkflowTokenStore.ts"
import type { TokenRequest } from "./Requests.ts"

/** Bytes of a secret. */
const secretBytes = 32

/** Retries an operation of the store until it answers or the node shuts down. Null then. */
type Persist = <A>(operation: Effect.Effect<A, StoreUnavailable>) => Effect.Effect<A | null>

/** Services for the tokens of all runs. */
interface Tools {
  readonly store: WorkflowTokenStore["Service"]
  readonly keyring: Keyring["Service"]
  readonly random: SecureRandom.SecureRandom["Service"]
  readonly hash: (secret: string) => Effect.Effect<string>
  /** Base of the URLs; null without a public URL. */
  readonly publicUrl: () => string | null
  readonly persist: Persist
}

const storeRetry = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("2 seconds")])

/** Returns a function that opens the tokens of a claimed run. `isStopping` ends retries of the store. */
export const makeRunTokens = Effect.fnUntraced(function* (isStopping: () => boolean) {
  const digest = yield* Digest.Digest
  const store = yield* WorkflowTokenStore
  const tools: Tools = {
    ...{ store, keyring: yield* Keyring, random: yield* SecureRandom.SecureRandom, publicUrl: yield* PublicUrl },
    hash: (secret) => Effect.provideService(hashSecret(Redacted.make(secret)), Digest.Digest, digest),
    persist: (operation) =>
      Effect.retry(operation, { schedule: storeRetry, while: () => !isStopping() }).pipe(
        Effect.catchTag("StoreUnavailable", (error) => Effect.as(logOutage(error), null))
      )
  }
  return Effect.fnUntraced(function* (claim: Claim, { steps }: History) {
    const created = steps.filter(({ kind, ok }) => kind === "token" && ok)
    const tokens = new RunTokens(claim, tools)
    if (created.length > 0) yield* tokens.open(yield* store.list(claim.run))
    // A replay from a step has copies of results, but tokens belong to one run.
    for (const { seq, name } of created.filter((step) => tokens.find(step.seq) === undefined)) {
      yield* tokens.create({ seq, name, expires_at: null }, yield* currentTime)
    }
    return tokens
  })
})

export class RunTokens {
  readonly #claim: Claim
  readonly #tools: Tools
  /** By `seq`. */
  readonly #tokens = new Map<number, WorkflowToken>()
  /** Results of `createToken` for the function, by `seq`. They contain the secrets. */
  readonly #results = new Map<number, JsonText>()
  /** The secrets, to be masked in the log of the run. */
  readonly secrets = new Set<string>()

  constructor(claim: Claim, tools: Tools) {
    this.#claim = claim
    this.#tools = tools
  }

  /** Adds stored tokens. */
  open(tokens: ReadonlyArray<WorkflowToken>): Effect.Effect<void> {
    return Effect.forEach(tokens, (token) => this.#add(token, null), { discard: true })
  }

  /** Returns the token that a request created; undefined without one. */
  find(seq: number): WorkflowToken | undefined {
    return this.#tokens.get(seq)
  }

  /** Returns the step with its result for the function. */
  reveal(step: StepRecord): StepRecord {
    const result = step.kind === "token" && step.ok ? this.#results.get(step.seq) : undefined
    return result === undefined ? step : { ...step, result }
  }

  /** Returns the wait with the completion of its token, if that was completed before the wait was stored. */
  withCompletion(wait: WaitRecord): WaitRecord {
    const result = wait.token_seq === null ? null : (this.#tokens.get(wait.token_seq)?.result ?? null)
    return wait.outcome !== null || result === null ? wait : { ...wait, outcome: formatCompletion(result) }
  }

  /**
   * Stores a token. If the run has created it before, but did not record the result, it is the same again. Returns the
   * result to record; null if another activation holds the run, or if the node shuts down.
   */
  create({ seq, name, expires_at }: TokenRequest, now: Timestamp): Effect.Effect<JsonText | null> {
    return Effect.gen({ self: this }, function* () {
      const { store, keyring, random, hash, persist } = this.#tools
      const { run, delivery } = this.#claim
      const secret = Base64Url.encode(yield* random.randomBytes(secretBytes))
      const ref = { env_id: run.env_id, run_id: run.run_id, seq }
      const token: WorkflowToken = {
        ...{ ...ref, name, state: "pending", created_at: now, expires_at, completed_at: null, result: null },
        token_hash: yield* hash(secret),
        secret: yield* keyring.seal(secret, tokenPlace(ref))
      }
      const stored = yield* persist(store.create(token, delivery.delivery_id))
      if (stored === null) return null
      yield* this.#add(stored, isSameHash(stored.token_hash, token.token_hash) ? secret : null)
      return toJsonText({ id: formatTokenId(stored) })
    })
  }

  /** Reads the tokens of waits that were just stored. Returns the waits whose tokens are completed. */
  completed(waits: ReadonlyArray<WaitRecord>): Effect.Effect<ReadonlyArray<WaitRecord>> {
    return Effect.gen({ self: this }, function* () {
      const found: Array<WaitRecord> = []
      for (const wait of waits) {
        if (wait.token_seq === null) continue
        const token = yield* this.#read(wait.token_seq, this.#tools.store.get)
        const completed = token === null ? wait : this.withCompletion(wait)
        if (completed.outcome !== null) found.push(completed)
      }
      return found
    })
  }

  /**
   * Expires a token whose time has come. Returns what its waits receive, which may be a completion at the last moment. Null
   * if the store does not answer and the node shuts down.
   */
  expire(seq: number): Effect.Effect<JsonText | null> {
    return Effect.map(this.#read(seq, this.#tools.store.expire), (token) => {
      if (token === null) return null
      return token.result === null ? tokenTimeout : formatCompletion(token.result)
    })
  }

  #read(seq: number, operation: WorkflowTokenStore["Service"]["get"]): Effect.Effect<WorkflowToken | null> {
    const { env_id, run_id } = this.#claim.run
    return Effect.tap(this.#tools.persist(operation({ env_id, run_id, seq })), (token) =>
      Effect.sync(() => token !== null && this.#tokens.set(seq, token))
    )
  }

  /** Adds a stored token. `secret` is null if it has to be decrypted. */
  #add(token: WorkflowToken, secret: string | null): Effect.Effect<void> {
    const opened = secret === null ? this.#decrypt(token) : Effect.succeed(secret)
    return Effect.map(opened, (text) => {
      const path = `/tokens/${text}`
      this.secrets.add(text)
      this.#tokens.set(token.seq, token)
      const url = `${this.#tools.publicUrl() ?? ""}${path}`
      this.#results.set(token.seq, toJsonText({ url, token: text, id: formatTokenId(token) }))
    })
  }

  /**
   * Decrypts the secret of a token. If its master key is lost, the function receives the id instead. It needs the secret only
   * to name the token, because the URL was given away before.
   */
  #decrypt(token: WorkflowToken): Effect.Effect<string> {
    return this.#tools.keyring
      .open(token.secret, tokenPlace(token))
      .pipe(
        Effect.catchTag("CannotOpen", ({ message }) =>
          Effect.as(Effect.logWarning("The URL of a token is lost:", message), formatTokenId(token))
        )
      )
  }
}
