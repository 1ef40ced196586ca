import { Command } from "effect/cli"
import { cancel } from "./cancel.ts"
import { list } from "./list.ts"

export const deliveries = Command.make("deliveries").pipe(
  Command.withDescription("List and cancel events that wait for their handlers"),
  Command.withSubcommands([list, cancel])
)
