/** Records of canaries, an extension of the specification. */
import { Canary, CanarySettings } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant } from "./Wire.ts"

const settings = CanarySettings.fields

/** Texts of the settings, which records and inputs share. */
const texts = {
  share: "Share of the events and calls that the canary gets, more than 0 and less than 1",
  key: "Expression on the event whose values stay on one side, such as `event.data.customer`; by default, each event and request has its own",
  min_runs: "Ended runs of the canary before any rule decides; 20 by default",
  max_failure_share: "Maximum share of failed runs",
  max_failure_share_over_base:
    "Maximum by which the share of failed runs exceeds that of the deployed build; 0.05 by default, if no maximum is sent",
  max_latency_ratio:
    "Maximum ratio of the 95th percentile of the durations to that of the deployed build, 1 to 1000; by default none",
  promote: "With `auto` (the default), the canary becomes the deployed build at the end of the window"
} as const

const CanaryInput = Schema.Struct({
  share: Schema.Number.annotate({ description: texts.share, examples: [0.1] }),
  key: example(Schema.optionalKey(Schema.String.annotate({ description: texts.key })), "event.data.customer"),
  window: example(
    Schema.optionalKey(
      Schema.Union([Schema.String, Schema.Number]).annotate({
        description: "Time until the rules decide, as a duration or in milliseconds; `10m` by default"
      })
    ),
    "10m"
  ),
  min_runs: example(Schema.optionalKey(Schema.Int.annotate({ description: texts.min_runs })), 20),
  max_failure_share: example(
    Schema.optionalKey(Schema.Number.annotate({ description: texts.max_failure_share })),
    0.05
  ),
  max_failure_share_over_base: example(
    Schema.optionalKey(Schema.Number.annotate({ description: texts.max_failure_share_over_base })),
    0.05
  ),
  max_latency_ratio: example(Schema.optionalKey(Schema.Number.annotate({ description: texts.max_latency_ratio })), 1.5),
  promote: Schema.optionalKey(settings.promote.annotate({ description: texts.promote }))
})

export const DeployInput = Schema.Struct({
  canary: Schema.optionalKey(
    CanaryInput.annotate({ description: "Makes the build a canary; the deployed one gets the rest" })
  ),
  replace: example(
    Schema.optionalKey(
      Schema.Boolean.annotate({ description: "Ends an active canary of the project; without it, that is 409" })
    ),
    false
  )
}).annotate({ identifier: "DeployInput" })

const CanarySideRecord = Schema.Struct({
  runs: Schema.Int.annotate({ description: "Runs that ended with success or a failure", examples: [120] }),
  failures: Schema.Int.annotate({ examples: [1] }),
  failure_share: Schema.Number.annotate({ examples: [0.0083] }),
  p95_ms: example(Schema.NullOr(Schema.Int), 42).annotate({
    description: "95th percentile of the durations in milliseconds, within 5 %; null without runs"
  })
}).annotate({ identifier: "CanarySide" })

export const CanaryRecord = Schema.Struct({
  ...Struct.pick(Canary.fields, ["canary_id", "project_id"]),
  build_id: Canary.fields.build_id.annotate({ description: "The build that gets the share" }),
  base_build_id: Canary.fields.base_build_id.annotate({ description: "The deployed build, which gets the rest" }),
  state: Canary.fields.state.annotate({ description: "`replaced`: another build was deployed" }),
  settings: Schema.Struct({
    share: settings.share.annotate({ description: texts.share, examples: [0.1] }),
    key: example(settings.key, "event.data.customer").annotate({ description: texts.key }),
    window_ms: settings.window_ms.annotate({ examples: [600_000] }),
    min_runs: settings.min_runs.annotate({ description: texts.min_runs, examples: [20] }),
    max_failure_share: example(settings.max_failure_share, null).annotate({ description: texts.max_failure_share }),
    max_failure_share_over_base: example(settings.max_failure_share_over_base, 0.05).annotate({
      description: "Maximum by which the share of failed runs exceeds that of the deployed build"
    }),
    max_latency_ratio: example(settings.max_latency_ratio, null).annotate({
      description: "Maximum ratio of the 95th percentiles"
    }),
    promote: settings.promote
  }).annotate({ identifier: "CanarySettings" }),
  started_at: Instant,
  window_ends_at: Instant,
  ended_at: Schema.NullOr(Instant),
  reason: example(Canary.fields.reason, null).annotate({ description: "Reason for the end; null while it is active" }),
  counts: Schema.Struct({ canary: CanarySideRecord, base: CanarySideRecord }).annotate({
    description: "Runs since the start of all nodes, as of about one second ago"
  })
}).annotate({ identifier: "Canary" })
