/** Records of pauses, an extension of the specification. */
import { Pause } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant } from "./Wire.ts"

export const PauseRecord = Schema.Struct({
  ...Struct.pick(Pause.fields, ["pause_id"]),
  project_id: Pause.fields.project_id.annotate({ description: "Null for a pause of the environment" }),
  project_name: example(Pause.fields.project_name, "orders").annotate({
    description: "Name of the project when it was paused"
  }),
  ns: example(Pause.fields.ns, "main").annotate({ description: "Null for a pause of a project or of the environment" }),
  var: example(Pause.fields.var, "onOrder"),
  schedules: Pause.fields.schedules,
  paused_at: Instant,
  paused_by: example(Pause.fields.paused_by, "api-key 01970d3c-6a20-78bf-a48c-b3d1cf705c10").annotate({
    description: "Type and id of the credential"
  })
}).annotate({ identifier: "Pause" })

export const PauseStateRecord = Schema.Struct({
  ...PauseRecord.fields,
  runs: Schema.Struct({
    executing: Schema.Int.annotate({ description: "Runs that execute; 0 after they have drained", examples: [0] }),
    suspended: Schema.Int.annotate({
      description: "Suspended durable runs, which continue at their time",
      examples: [0]
    })
  })
}).annotate({ identifier: "PauseState" })

export const NewPauseRecord = Schema.Struct({
  project: example(
    Schema.optionalKey(
      Schema.String.annotate({ description: "Id or name of a project; without it, the environment is paused" })
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
  ),
  schedules: Schema.optionalKey(
    Pause.fields.schedules.annotate({
      description:
        "Ticks of schedules during the pause: with `late` (the default), the latest fires once at the end; with `skip`, none does"
    })
  )
}).annotate({ identifier: "PauseInput" })
