/** Options of a function that a client waits for: a webhook, tool, resource or prompt. */
import { Effect, Schema } from "effect"
import { RecordMode } from "../../tenants/orgs/RecordMode.ts"
import { RecordingRules } from "./RecordingRules.ts"

export const synchronousOptions = {
  timeout_ms: Schema.Int,
  record: RecordMode.pipe(Schema.withDecodingDefaultKey(Effect.succeed("before" as const))),
  /** The recording of its runs; without it, none are recorded. */
  recording: Schema.optionalKey(RecordingRules)
}
