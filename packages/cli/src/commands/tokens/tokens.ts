import { Command } from "effect/cli"
import { complete } from "./complete.ts"

export const tokens = Command.make("tokens").pipe(
  Command.withDescription("Complete tokens for which durable functions wait"),
  Command.withSubcommands([complete])
)
