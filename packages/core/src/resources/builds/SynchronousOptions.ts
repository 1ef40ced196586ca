/** Options of a function that a client waits for: a webhook, tool, resource or prompt. */
import { Effect, Schema } from "effect"
import { RecordMode } from "../../tenants/orgs/RecordMode.ts"

export const synchronousOptions = {
  timeout_ms: Schema.Int,
  record: RecordMode.pipe(Schema.withDecodingDefaultKey(Effect.succeed("before" as const)))
}
