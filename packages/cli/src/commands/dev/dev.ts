/** `weft dev`: what is saved is live, and what happens is told. */
import type { LogEntry, Run } from "@weft/client"
import { Effect, Path, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { makeBundler } from "../../bundle/Bundle.ts"
import { Api } from "../../connection/Api.ts"
import { ensureProject } from "../../deployment/Servers.ts"
import type { Failure } from "../../Failure.ts"
import { mayBeInterrupted } from "../../MayBeInterrupted.ts"
import { failureLines } from "../../output/FailureText.ts"
import { Output } from "../../output/Output.ts"
import { type Project, readProject } from "../../project/Project.ts"
import { followAll, type Showing } from "../logs/Following.ts"
import { endText, entryText } from "../logs/LogText.ts"
import { dataFolder, port } from "../server/server.ts"
import { devServer } from "./DevServer.ts"
import { type LiveBuilds, makeLiveBuilds } from "./LiveBuilds.ts"
import { foldersOf, makeSourceWatch } from "./SourceWatch.ts"

export const dev = Command.make(
  "dev",
  { port: Flag.optional(port) },
  Effect.fnUntraced(function* ({ port }) {
    const output = yield* Output
    const project = yield* readProject
    const { api, url, isOwn } = yield* devServer(project.folder, port)
    yield* output.line(
      { event: "server", url, local: isOwn, project: project.name },
      () =>
        `${output.paint.bold(project.name)} on ${url}${isOwn ? `, a local server with its data in ${dataFolder}` : ""}`
    )
    yield* Effect.gen(function* () {
      yield* ensureProject(project.name)
      const bundler = yield* makeBundler(project)
      const builds = yield* makeLiveBuilds({ api, project, url, bundler })
      yield* mayBeInterrupted
      // What fails in one of them without being foreseen ends both.
      yield* Effect.all([renewOnChange(project, builds), tellRuns(project.name)], { concurrency: 2 })
    }).pipe(Effect.provideService(Api, api))
  }, Effect.scoped)
).pipe(
  Command.withDescription("Try the project: what is saved is live at once, and runs and logs are told as they come"),
  Command.withExamples([
    { command: "weft dev", description: "On the current profile's server, or on a local one that it starts" },
    { command: "weft dev --json", description: "Tell it to a program, a line of JSON for everything" }
  ])
)

/** A build that fails leaves the last one live; the next save may mend it. */
const renewOnChange = Effect.fnUntraced(function* (project: Project, builds: LiveBuilds) {
  const path = yield* Path.Path
  const sources = yield* makeSourceWatch
  const roots = [path.dirname(project.entry), ...(project.assets === null ? [] : [project.assets])]
  let inputs: ReadonlyArray<string> = []

  const renew = builds.renew.pipe(
    Effect.tap((bundle) =>
      Effect.sync(() => {
        inputs = bundle.inputs
      })
    ),
    Effect.catch(tellFailed),
    Effect.andThen(Effect.suspend(() => sources.watch(foldersOf(inputs, roots))))
  )
  // What is saved while the first build is made is not missed.
  yield* sources.watch(foldersOf(inputs, roots))
  yield* renew
  return yield* Stream.runForEach(sources.changes, () => renew)
})

const tellFailed = Effect.fnUntraced(function* (failed: Failure) {
  const output = yield* Output
  const { code, message, remedy, details } = failed
  yield* output.line({ event: "failed", error: { code, message, remedy, details } }, () =>
    failureLines(failed, output.paint).join("\n")
  )
})

/** The end of a connection is told, and that it comes back; the command goes on. */
const tellRuns = Effect.fnUntraced(function* (project: string) {
  const output = yield* Output
  const say = Effect.runForkWith(yield* Effect.context<never>())
  const showing: Showing = {
    isWanted: (name) => name === project,
    entry: (run: Run, fn: string, entry: LogEntry) =>
      output.line({ event: "log", run_id: run.run_id, function: fn, ...entry }, () =>
        entryText(entry, output.paint, fn)
      ),
    end: (run, fn) => output.line({ event: "run", ...run, function: fn }, () => endText(run, output.paint, fn))
  }
  yield* followAll(
    showing,
    (error) => void say(output.note(output.paint.dim(`${error.message}; connecting again…`)))
  ).pipe(Effect.catch(tellFailed))
})
