/** Capabilities of builds, an extension of the specification. */
import { BuildId } from "@weft/core/adapter"
import { Schema } from "effect"

const names = (description: string, name: string) =>
  Schema.Array(Schema.String).annotate({ description, examples: [[name]] })

/** Names by kind. `*` stands for names that the code computes. */
const CapabilityNames = Schema.Struct({
  hosts: names("Hosts of requests; `*` if the code computes some", "api.stripe.com"),
  host_functions: names("Functions of the host", "shop.price"),
  secrets: names("Keys of secrets; `*` if the code computes some", "STRIPE_KEY"),
  files: names("`read` and `write`", "read"),
  publishes: names("Types of published events; `*` if the code computes some", "order:paid"),
  handles: names("Types of handled events", "order:created"),
  schedules: names("Function and cron expression", "main/report 0 6 * * *"),
  endpoints: names("Webhooks", "POST /shop/hook"),
  tools: names("Tools, resources and prompts of models", "shop/refund")
}).annotate({ identifier: "Capabilities" })

export const BuildCapabilitiesRecord = Schema.Struct({
  build_id: BuildId,
  capabilities: CapabilityNames,
  compared: Schema.NullOr(
    Schema.Struct({
      build_id: Schema.NullOr(BuildId).annotate({ description: "The deployed build; null without one" }),
      added: CapabilityNames,
      removed: CapabilityNames
    })
  ).annotate({ description: "Difference to the deployed build; null without `compare`" })
}).annotate({ identifier: "BuildCapabilities" })
