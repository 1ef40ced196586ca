/** `weft dev`: makes each save live, and prints runs and logs. */
import type { LogEntry, Run } from "@weft/client"
import { Effect, Latch, Path, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { makeBundler } from "../../bundle/Bundle.ts"
import { Api } from "../../connection/Api.ts"
import { ensureProject } from "../../deployment/ProjectBuilds.ts"
import type { Failure } from "../../Failure.ts"
import { succeedWhenInterrupted } from "../../Interruption.ts"
import { failureLines } from "../../output/FailureText.ts"
import { Output } from "../../output/Output.ts"
import { type Project, readProject } from "../../project/Project.ts"
import { followAll, type RunPrinter } from "../logs/FollowRuns.ts"
import { endText, entryText } from "../logs/LogText.ts"
import { dataFolder, port } from "../server/server.ts"
import { devServer } from "./DevServer.ts"
import { type LiveBuilds, makeLiveBuilds } from "./LiveBuilds.ts"
import { listWatchedFolders, makeSourceWatch } from "./SourceWatch.ts"

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
      yield* succeedWhenInterrupted
      // An unexpected error in one of them ends both.
      const printing = yield* Latch.make(false)
      yield* Effect.all(
        [
          // Runs of the first build may start at once.
          Effect.andThen(printing.await, rebuildOnChange(project, builds)),
          printRuns(project.name, () => printing.openUnsafe())
        ],
        { concurrency: 2 }
      )
    }).pipe(Effect.provideService(Api, api))
  }, Effect.scoped)
).pipe(
  Command.withDescription("Run the project in development: each save goes live, and runs and logs are printed"),
  Command.withExamples([
    { command: "weft dev", description: "On the current profile's server, or on a local server that it starts" },
    { command: "weft dev --json", description: "Print one line of JSON per event" }
  ])
)

/** Builds after each change. If a build fails, the last one remains live. */
const rebuildOnChange = Effect.fnUntraced(function* (project: Project, builds: LiveBuilds) {
  const path = yield* Path.Path
  const sources = yield* makeSourceWatch
  const roots = [path.dirname(project.entry), ...(project.assets === null ? [] : [project.assets])]
  let inputs: ReadonlyArray<string> = []

  const update = builds.update.pipe(
    Effect.tap((bundle) =>
      Effect.sync(() => {
        inputs = bundle.inputs
      })
    ),
    Effect.catch(printFailure),
    Effect.andThen(Effect.suspend(() => sources.watch(listWatchedFolders(inputs, roots))))
  )
  // Watch before the first build, so that no save during it is missed.
  yield* sources.watch(listWatchedFolders(inputs, roots))
  yield* update
  return yield* Stream.runForEach(sources.changes, () => update)
})

const printFailure = Effect.fnUntraced(function* (failed: Failure) {
  const output = yield* Output
  const { code, message, remedy, details } = failed
  yield* output.line({ event: "failed", error: { code, message, remedy, details } }, () =>
    failureLines(failed, output.paint).join("\n")
  )
})

/**
 * Prints runs and logs of the project. Reports a lost connection and continues after it reconnects. Calls `onReady` when it
 * prints, and when it can't.
 */
const printRuns = Effect.fnUntraced(function* (project: string, onReady: () => void) {
  const output = yield* Output
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const printer: RunPrinter = {
    accepts: (name) => name === project,
    entry: (run: Run, fn: string, entry: LogEntry) =>
      output.line({ event: "log", run_id: run.run_id, function: fn, ...entry }, () =>
        entryText(entry, output.paint, fn)
      ),
    end: (run, fn) => output.line({ event: "run", ...run, function: fn }, () => endText(run, output.paint, fn))
  }
  yield* followAll(printer, {
    onOpen: onReady,
    onInterruption: (error) => void fork(output.note(output.paint.dim(`${error.message}; connecting again…`)))
  }).pipe(Effect.catch(printFailure), Effect.ensuring(Effect.sync(onReady)))
})
