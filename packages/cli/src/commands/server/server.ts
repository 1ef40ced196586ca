/** `weft server`: a development server that listens on the loopback interface only. */
import { Effect, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import { succeedWhenInterrupted } from "../../Interruption.ts"
import { Output } from "../../output/Output.ts"
import { startLocalServer } from "../../server/Local.ts"

export const dataFolder = ".weft"
export const defaultPort = 8787

const data = Flag.String("data").pipe(
  Flag.withMetavar("folder"),
  Flag.withDescription(`Folder of all data (default: ${dataFolder})`),
  Flag.optional
)

export const port = Flag.Int("port").pipe(
  Flag.withMetavar("number"),
  Flag.withDescription("Port of the local server; 0 for any free port"),
  Flag.filter(
    (number) => number >= 0 && number <= 65_535,
    () => "must be from 0 to 65535"
  )
)

export const server = Command.make(
  "server",
  { data, port: Flag.withDefault(port, defaultPort) },
  Effect.fnUntraced(function* ({ data, port }) {
    const path = yield* Path.Path
    const output = yield* Output
    const folder = path.resolve(Option.getOrElse(data, () => dataFolder))
    yield* output.status("starting…")
    const { url, isCurrent } = yield* startLocalServer({ folder, port })
    yield* output.line({ event: "listening", url, data: folder, profile: "local" }, () =>
      [
        `weft listening on ${output.paint.bold(url)}, with its data in ${folder}`,
        isCurrent
          ? "Other commands talk to it. Ctrl-C ends it."
          : "Other commands talk to it with `--profile local`. Ctrl-C ends it."
      ].join("\n")
    )
    yield* succeedWhenInterrupted
    yield* Effect.never
  }, Effect.scoped)
).pipe(
  Command.withDescription("Run a development server on this machine, with SQLite and a folder"),
  Command.withExamples([
    { command: "weft server", description: `With its data in ${dataFolder}` },
    { command: "weft server --data /tmp/weft --port 0", description: "With another folder, on any free port" }
  ])
)
