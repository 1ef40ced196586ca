/** `weft repl`: a session that evaluates inputs on the server and keeps their variables. */
import { dirname, join } from "node:path"
import { Effect, type FileSystem, Option, Stdio } from "effect"
import { Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { readText } from "../../input/Text.ts"
import { Output } from "../../output/Output.ts"
import { Profiles } from "../../profiles/Profiles.ts"
import { type Complete, LineReader } from "./LineReader.ts"
import { makeRemoteSession } from "./RemoteSession.ts"
import { replLoop } from "./ReplLoop.ts"

const flags = {
  project: Flag.String("project").pipe(
    Flag.withMetavar("name"),
    Flag.withDescription("Project whose build inputs can use as `build`, with its secrets"),
    Flag.optional
  ),
  build: Flag.String("build").pipe(
    Flag.withMetavar("id"),
    Flag.withDescription("Build of the project, deployed by default"),
    Flag.optional
  ),
  timeout: Flag.Int("timeout").pipe(
    Flag.withMetavar("seconds"),
    Flag.withDescription("Seconds of each input, at most 60; 30 by default"),
    Flag.optional
  )
}

export const repl = Command.make(
  "repl",
  flags,
  Effect.fnUntraced(function* ({ project, build, timeout }) {
    const output = yield* Output
    const profiles = yield* Profiles
    const stdio = yield* Stdio.Stdio
    const isTerminal = (yield* stdio.stdinIsTerminal) && (yield* stdio.stdoutIsTerminal) && !output.json
    const remote = makeRemoteSession(
      yield* Api,
      { project: Option.getOrUndefined(project), build_id: Option.getOrUndefined(build) },
      Option.getOrUndefined(timeout)
    )
    yield* remote.open
    if (isTerminal) yield* output.note("Variables are kept until you leave. `.help` shows the commands.")
    const files = yield* Effect.context<FileSystem.FileSystem | Stdio.Stdio>()
    let pending = ""
    const complete: Complete = (line) => {
      const source = pending === "" ? line : `${pending}\n${line}`
      return Effect.runPromiseWith(files)(remote.complete(source))
    }
    const lines = yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new LineReader({
            input: process.stdin,
            output: process.stdout,
            isTerminal,
            historyFile: join(dirname(profiles.file), "repl-history"),
            complete
          })
      ),
      (reader) => Effect.sync(() => reader.close())
    )
    yield* Effect.ensuring(
      replLoop({
        lines,
        session: remote,
        output,
        readFile: (name) => Effect.provideContext(readText(name), files),
        onPending: (text) => {
          pending = text
        }
      }),
      remote.close
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription("Evaluate inputs in a session on the server that keeps their variables"),
  Command.withExamples([
    { command: "weft repl --project orders", description: "With the functions and secrets of the deployed build" },
    { command: "weft repl < checks.ts", description: "Each statement from stdin; results on stdout" }
  ])
)
