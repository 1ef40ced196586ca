import { Command } from "effect/cli"
import { cancel } from "./cancel.ts"
import { get } from "./get.ts"
import { list } from "./list.ts"
import { replay } from "./replay.ts"
import { stats } from "./stats.ts"

export const runs = Command.make("runs").pipe(
  Command.withDescription("List, show, cancel and replay runs"),
  Command.withSubcommands([list, get, cancel, replay, stats])
)
