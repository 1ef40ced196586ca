/** Records of alert rules, an extension of the specification. */
import { Alert, AlertAction, AlertCondition } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant } from "./Wire.ts"

const condition = example(AlertCondition, {
  type: "failure_share",
  share: 0.1,
  min_runs: 20,
  window_minutes: 5
}).annotate({
  description:
    "`failure_share`: more than this share of the runs failed. `latency`: a percentile of `duration` or `wait` is above. `backlog`: more due deliveries, or one that has waited longer. `silence`: no run has succeeded for this time"
})

const actions = example(Schema.Array(AlertAction), [
  { type: "webhook", url: "https://hooks.example.com/weft" },
  { type: "event" }
]).annotate({
  description:
    "1 to 5. `webhook`: a signed POST request. `event`: `svc:alert:fired` and `svc:alert:resolved`. `hook`: the callback of the host"
})

export const AlertRecord = Schema.Struct({
  ...Struct.pick(Alert.fields, ["alert_id"]),
  name: example(Alert.fields.name, "orders fail"),
  project_id: Alert.fields.project_id.annotate({ description: "Null for a rule about the environment" }),
  project_name: example(Alert.fields.project_name, "orders").annotate({
    description: "Name of the project when the rule was created"
  }),
  ns: example(Alert.fields.ns, "main").annotate({
    description: "Null for a rule about a project or the environment"
  }),
  var: example(Alert.fields.var, "onOrder"),
  condition,
  for_minutes: example(Alert.fields.for_minutes, 5).annotate({
    description: "Time for which the condition must hold before the rule fires"
  }),
  actions,
  enabled: example(Alert.fields.enabled, true),
  state: example(Alert.fields.state, "ok").annotate({
    description: "`pending`: the condition is true, but not yet for long enough"
  }),
  since: Instant.annotate({ description: "Start of the state" }),
  value: example(Alert.fields.value, 0.02).annotate({
    description:
      "Value of the latest evaluation: a share, milliseconds, a number of deliveries, seconds, or minutes; null without data"
  }),
  evaluated_at: Schema.NullOr(Instant),
  last_error: example(Alert.fields.last_error, null).annotate({
    description: "Message of the action that failed last; null if the latest notification succeeded"
  }),
  created_at: Instant,
  updated_at: Instant
}).annotate({ identifier: "Alert" })

const webhook_secret = example(Schema.String, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").annotate({
  description: "Signs the webhooks of the rule; other responses do not contain it"
})

export const AlertWithSecretRecord = Schema.Struct({ ...AlertRecord.fields, webhook_secret }).annotate({
  identifier: "AlertWithSecret"
})

export const AlertTestRecord = Schema.Struct({
  results: Schema.Array(
    Schema.Struct({
      action: AlertAction,
      error: Schema.NullOr(Schema.String).annotate({ description: "Null if the action succeeded", examples: [null] })
    })
  ),
  webhook_secret
}).annotate({ identifier: "AlertTest" })

const changeable = {
  name: Schema.optionalKey(Schema.String),
  condition: Schema.optionalKey(condition),
  for_minutes: Schema.optionalKey(AlertRecord.fields.for_minutes),
  actions: Schema.optionalKey(actions),
  enabled: Schema.optionalKey(Schema.Boolean.annotate({ description: "True by default" }))
}

export const NewAlertRecord = Schema.Struct({
  ...changeable,
  name: example(Schema.String, "orders fail").annotate({ description: "1 to 100 characters" }),
  condition,
  actions,
  project: example(
    Schema.optionalKey(
      Schema.String.annotate({ description: "Id or name of a project; without it, the rule is about the environment" })
    ),
    "orders"
  ),
  fn: example(
    Schema.optionalKey(
      Schema.String.annotate({
        description: "Only this function of the project: `ns/var`, or `project:ns/var` without `project`"
      })
    ),
    "main/onOrder"
  )
}).annotate({ identifier: "AlertInput" })

export const AlertChangeRecord = Schema.Struct(changeable).annotate({ identifier: "AlertChange" })
