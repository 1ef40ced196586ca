import { Command } from "effect/cli"
import { discard } from "./discard.ts"
import { list } from "./list.ts"
import { redrive } from "./redrive.ts"

export const deadLetters = Command.make("dead-letters").pipe(
  Command.withDescription("List, redrive and discard deliveries whose last attempt failed"),
  Command.withSubcommands([list, redrive, discard])
)
