/**
 * Tokens of durable runs. A client with the secret of a token may complete it once, with data for the run.
 *
 * A token is identified by the `seq` of the request that created it.
 */
import { Schema } from "effect"
import { EnvId, RunId } from "../../foundation/Ids.ts"
import { JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { SealContext } from "../../platform/encryption/Keyring.ts"
import { Sealed } from "../../platform/encryption/Sealed.ts"

/** A pending token whose time has passed may be stored as `pending` until its run notices. */
const TokenState = Schema.Literals(["pending", "completed", "expired"])

export const WorkflowToken = Schema.Struct({
  env_id: EnvId,
  run_id: RunId,
  seq: Schema.Int,
  name: Schema.String,
  state: TokenState,
  /** SHA-256 of the secret in lowercase hex. */
  token_hash: Schema.String,
  /** The secret, encrypted in the place `tokenPlace`. Each replay returns it to the function. */
  secret: Sealed,
  created_at: Timestamp,
  /** Null: the token expires with its run. */
  expires_at: Schema.NullOr(Timestamp),
  completed_at: Schema.NullOr(Timestamp),
  /** The data of a completed token. */
  result: Schema.NullOr(JsonText)
})
export type WorkflowToken = typeof WorkflowToken.Type

export type TokenRef = Pick<WorkflowToken, "env_id" | "run_id" | "seq">

/** Returns the public id of a token. It does not permit to complete the token. */
export const formatTokenId = ({ run_id, seq }: Pick<TokenRef, "run_id" | "seq">): string => `${run_id}:${seq}`

export const tokenPlace = ({ env_id, run_id, seq }: TokenRef): SealContext => ({
  table: "workflow_tokens",
  id: `${env_id}/${run_id}/${seq}`
})

/** True if the token may be completed at `at`. `isRunning` is false after the end of its run. */
export const isOpen = (
  { state, expires_at }: Pick<WorkflowToken, "state" | "expires_at">,
  isRunning: boolean,
  at: Timestamp
): boolean => isRunning && state === "pending" && (expires_at === null || at < expires_at)

/** Returns the result of a wait for a completed token. */
export const formatCompletion = (data: JsonText): JsonText =>
  JsonText.make(`{"ok":true,"data":${data}}`, { disableChecks: true })

/** The result of a wait for an expired token. */
export const tokenTimeout: JsonText = toJsonText({ ok: false, reason: "timeout" })
