/** Records of previews, an extension of the specification. */
import { Preview } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant } from "./Wire.ts"

const texts = {
  schedules: "True if the schedules of the build fire; they are off by default",
  copy_events:
    "True if events of the environment that no function published also reach the preview, as copies; off by default",
  secrets:
    "With `project` (the default), functions also read the secrets of the project; with `own`, only those of the preview"
} as const

export const PreviewRecord = Schema.Struct({
  ...Struct.pick(Preview.fields, ["project_id"]),
  name: example(Preview.fields.name, "pr-42"),
  env_id: Preview.fields.env_id.annotate({ description: "Environment of the preview" }),
  build_id: Preview.fields.build_id.annotate({
    description: "Build of the project that was copied; the copy has the same hash and another id"
  }),
  url: Schema.String.annotate({
    description: "Base URL of its webhooks; a path if the host has no public URL",
    examples: ["https://weft.example.com/webhook/acme/production~pr-42"]
  }),
  schedules: Preview.fields.schedules.annotate({ description: texts.schedules, examples: [false] }),
  copy_events: Preview.fields.copy_events.annotate({ description: texts.copy_events, examples: [false] }),
  secrets: example(Preview.fields.secrets, "project").annotate({ description: texts.secrets }),
  created_at: Instant,
  updated_at: Instant,
  expires_at: Instant
}).annotate({ identifier: "Preview" })

const ttl = example(Schema.Union([Schema.String, Schema.Number]), "7d").annotate({
  description: "Time from now until the removal, as a duration from `1m` to `90d` or in milliseconds"
})

export const PreviewInput = Schema.Struct({
  build_id: Preview.fields.build_id.annotate({ description: "Build of the project to copy" }),
  ttl: Schema.optionalKey(
    ttl.annotate({ description: "Time from now until the removal, as a duration or in milliseconds; `7d` by default" })
  ),
  schedules: example(Schema.optionalKey(Schema.Boolean.annotate({ description: texts.schedules })), false),
  copy_events: example(Schema.optionalKey(Schema.Boolean.annotate({ description: texts.copy_events })), false),
  secrets: Schema.optionalKey(Preview.fields.secrets.annotate({ description: texts.secrets }))
}).annotate({ identifier: "PreviewInput" })

export const PreviewExtension = Schema.Struct({ ttl }).annotate({ identifier: "PreviewExtensionInput" })
