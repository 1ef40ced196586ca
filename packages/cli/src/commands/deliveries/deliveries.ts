import { Command } from "effect/cli"
import { cancel } from "./cancel.ts"

export const deliveries = Command.make("deliveries").pipe(
  Command.withDescription("Cancel events that wait for their handlers"),
  Command.withSubcommands([cancel])
)
