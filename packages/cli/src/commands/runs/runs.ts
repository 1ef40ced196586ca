import { Command } from "effect/cli"
import { cancel } from "./cancel.ts"
import { get } from "./get.ts"
import { list } from "./list.ts"
import { replay } from "./replay.ts"
import { series } from "./series.ts"
import { show } from "./show.ts"
import { stats } from "./stats.ts"
import { wake } from "./wake.ts"

export const runs = Command.make("runs").pipe(
  Command.withDescription("List, show, count, cancel, replay and wake runs"),
  Command.withSubcommands([list, get, show, cancel, wake, replay, stats, series])
)
