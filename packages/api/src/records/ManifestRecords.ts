/** Functions, triggers and tools that a build declares. */
import { Build, Endpoint, EventHandler, FunctionEntry, ScheduleEntry } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"

const fn = {
  ns: example(FunctionEntry.fields.ns, "main"),
  var: example(FunctionEntry.fields.var, "onOrder")
}

/** A tool, a resource or a prompt, which clients of the Model Context Protocol see. */
const mcpEntry = Schema.Struct({ ...fn, service: Schema.String, name: Schema.String, description: Schema.String })

export const BuildManifestRecord = Schema.Struct({
  ...Struct.pick(Build.fields, ["build_id"]),
  active: example(Schema.Boolean, true).annotate({
    description: "True if the triggers of the project run this build: the live one, or else the deployed one"
  }),
  functions: Schema.Array(
    Schema.Struct({
      ...fn,
      durable: Schema.Boolean,
      timeout_ms: example(Schema.Int, 300_000),
      attempts: example(Schema.Int, 3).annotate({ description: "Maximum attempts; 1 without retries" }),
      concurrency: example(Schema.NullOr(Schema.Int), 5).annotate({
        description: "Maximum concurrent runs, or null without a limit"
      })
    })
  ),
  handlers: Schema.Array(
    Schema.Struct({ ...fn, event_type: example(EventHandler.fields.event_type, "order:created") })
  ),
  schedules: Schema.Array(
    Schema.Struct({
      ...fn,
      cron: example(ScheduleEntry.fields.cron, "0 3 * * *"),
      timezone: example(ScheduleEntry.fields.timezone, "UTC")
    })
  ),
  endpoints: Schema.Array(
    Schema.Struct({
      ...fn,
      method: Endpoint.fields.method,
      service: example(Endpoint.fields.service, "shop"),
      path: example(Endpoint.fields.path, "/status"),
      description: Endpoint.fields.description,
      auth: Endpoint.fields.auth
    })
  ),
  tools: Schema.Array(mcpEntry),
  resources: Schema.Array(mcpEntry),
  prompts: Schema.Array(mcpEntry)
}).annotate({ identifier: "BuildManifest" })
