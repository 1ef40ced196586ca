/** `weft server`: a server for development, on this machine only. */
import { Effect, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import { mayBeInterrupted } from "../../MayBeInterrupted.ts"
import { Output } from "../../output/Output.ts"
import { openLocal } from "../../server/Local.ts"

export const dataFolder = ".weft"
export const usualPort = 8787

const data = Flag.String("data").pipe(
  Flag.withMetavar("folder"),
  Flag.withDescription(`Where everything is kept (default: ${dataFolder})`),
  Flag.optional
)

export const port = Flag.Int("port").pipe(
  Flag.withMetavar("number"),
  Flag.withDescription("The port that a local server listens on; 0 takes any"),
  Flag.filter(
    (number) => number >= 0 && number <= 65_535,
    () => "must be from 0 to 65535"
  )
)

export const server = Command.make(
  "server",
  { data, port: Flag.withDefault(port, usualPort) },
  Effect.fnUntraced(function* ({ data, port }) {
    const path = yield* Path.Path
    const output = yield* Output
    const folder = path.resolve(Option.getOrElse(data, () => dataFolder))
    yield* output.status("starting…")
    const { url, isCurrent } = yield* openLocal({ folder, port })
    yield* output.line({ event: "listening", url, data: folder, profile: "local" }, () =>
      [
        `weft listening on ${output.paint.bold(url)}, with its data in ${folder}`,
        isCurrent
          ? "Other commands talk to it. Ctrl-C ends it."
          : "Other commands talk to it with `--profile local`. Ctrl-C ends it."
      ].join("\n")
    )
    yield* mayBeInterrupted
    yield* Effect.never
  }, Effect.scoped)
).pipe(
  Command.withDescription("Run a server for development on this machine, with SQLite and a folder"),
  Command.withExamples([
    { command: "weft server", description: `Keep everything in ${dataFolder}` },
    { command: "weft server --data /tmp/weft --port 0", description: "Keep it elsewhere, on any port" }
  ])
)
