/** `weft replay`: replays recorded runs on this machine, and shows where they differ. */
import type { Recording, RunRecording } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure, usageError } from "../../Failure.ts"
import type { LoadedBuild, ReplayReport } from "../../hosting/Replayer.ts"
import { Output } from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"
import { loadPages, printTable } from "../Lists.ts"
import { entryText } from "../logs/LogText.ts"
import { projectFlag, sinceFlag } from "../runs/RunFilters.ts"
import { exportTest } from "./exportTest.ts"
import { readReplayBuild } from "./ReplayBuilds.ts"
import { differenceLines, differenceText, functionText } from "./ReplayText.ts"

const flags = {
  run: Argument.String("run").pipe(Argument.withDescription("The id of a recorded run"), Argument.optional),
  build: Flag.String("build").pipe(
    Flag.withMetavar("path"),
    Flag.withDescription(
      "Another build: a zip, a folder such as dist, or the id of a build; by default that of the run"
    ),
    Flag.optional
  ),
  fn: Flag.String("function").pipe(
    Flag.withAlias("fn"),
    Flag.withMetavar("function"),
    Flag.withDescription("Replay the newest recorded runs of this function: ns/name, or project:ns/name"),
    Flag.optional
  ),
  ...{ project: projectFlag, since: sinceFlag },
  limit: Flag.Int("limit").pipe(
    Flag.filter(
      (limit) => limit > 0,
      () => "Expected: a positive number"
    ),
    Flag.withDescription("Maximum runs to replay, 20 by default"),
    Flag.optional
  ),
  exported: Flag.String("export").pipe(
    Flag.withMetavar("file"),
    Flag.withDescription("Write a test for vitest with the recording of the run, instead of a replay"),
    Flag.optional
  )
}

export const replay = Command.make(
  "replay",
  flags,
  Effect.fnUntraced(function* ({ run, build, exported, limit, ...filters }) {
    const selects = Option.isSome(limit) || Object.values(filters).some(Option.isSome)
    if (Option.isSome(run) === selects) {
      return yield* usageError("Give the id of a run, or flags that select runs", "for example --function main/onOrder")
    }
    if (Option.isSome(run)) {
      const recording = yield* fetchRecording(run.value)
      if (Option.isSome(exported)) return yield* exportTest(recording, exported.value)
      return yield* replayOne(recording, Option.getOrNull(build))
    }
    if (Option.isSome(exported)) return yield* usageError("--export needs the id of a run")
    const query = {
      fn: Option.getOrUndefined(filters.fn),
      project: Option.getOrUndefined(filters.project),
      time_range: Option.getOrUndefined(filters.since)
    }
    yield* replayAll(
      query,
      Option.getOrElse(limit, () => 20),
      Option.getOrNull(build)
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription("Replay recorded runs on this machine; the exit code is 1 if one differs"),
  Command.withExamples([
    { command: "weft replay 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e", description: "With the build of the run" },
    {
      command: "weft replay --function main/onOrder --since 1d --limit 200 --build dist",
      description: "The newest runs of a function, with a new build"
    },
    {
      command: "weft replay 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e --export test/order.test.ts",
      description: "As a test for vitest"
    }
  ])
)

const fetchRecording = Effect.fnUntraced(function* (runId: string) {
  const api = yield* Api
  return yield* api.request((weft, options) => weft.recordings.get(runId, options))
})

/** Starts a sandbox that closes with the scope, and returns a function that replays recordings in it. */
const makeReplay = Effect.fnUntraced(function* (given: string | null) {
  const { openReplayer } = yield* Effect.promise(() => import("../../hosting/Replayer.ts"))
  const replayer = yield* Effect.acquireRelease(Effect.sync(openReplayer), (opened) =>
    Effect.promise(() => opened.close())
  )
  const loaded = new Map<string, LoadedBuild>()
  return Effect.fnUntraced(function* (recording: RunRecording) {
    const key = given ?? recording.build_id
    const build =
      loaded.get(key) ??
      (yield* Effect.flatMap(readReplayBuild(given, recording), (zip) =>
        Effect.tryPromise({ try: () => replayer.load(zip), catch: toLoadFailure })
      ))
    loaded.set(key, build)
    return yield* Effect.promise(() => replayer.replay(build, recording))
  })
})

const toLoadFailure = (error: unknown) =>
  failure("build", `The build cannot be loaded: ${error instanceof Error ? error.message : String(error)}`)

const replayOne = Effect.fnUntraced(function* (recording: RunRecording, build: string | null) {
  const output = yield* Output
  const { paint } = output
  const run = yield* makeReplay(build)
  const { logs, ...report } = yield* run(recording)
  for (const { time, level, message, data } of logs) {
    const entry = { seq: 0, time: new Date(time).toISOString(), level, message, data: data && JSON.parse(data) }
    yield* output.note(entryText(entry, paint))
  }
  yield* output.print({ run_id: recording.run_id, ...report }, () => verdictText(report))
  const { difference } = report
  if (difference === null) return
  return yield* failure("replay_differs", differenceText(difference), null, differenceLines(difference, paint))
})

const verdictText = ({ verdict, calls }: Pick<ReplayReport, "verdict" | "calls">): string =>
  verdict === "incomplete"
    ? `incomplete: the same ${calls} host calls; the recording ends there`
    : `${verdict}: ${calls} host calls`

interface Query {
  readonly fn: string | undefined
  readonly project: string | undefined
  readonly time_range: string | undefined
}

interface Differing {
  readonly recording: Recording
  readonly difference: NonNullable<ReplayReport["difference"]>
}

const replayAll = Effect.fnUntraced(function* (query: Query, limit: number, build: string | null) {
  const api = yield* Api
  const output = yield* Output
  const found = yield* api.request((weft, options) =>
    loadPages({ limit, all: false }, (page) => weft.recordings.list({ ...query, ...page }, options))
  )
  if (found.items.length === 0) return yield* failure("no_recordings", "No recorded run matches", recordHint)
  const run = yield* makeReplay(build)
  const different: Array<Differing> = []
  let incomplete = 0
  for (const [index, recording] of found.items.entries()) {
    yield* output.status(`replaying ${index + 1} of ${found.items.length}…`)
    const { verdict, difference } = yield* run(yield* fetchRecording(recording.run_id))
    if (difference !== null) different.push({ recording, difference })
    if (verdict === "incomplete") incomplete++
  }
  yield* output.status(null)
  const counts = { replayed: found.items.length, different: different.length, incomplete }
  yield* showAll(counts, different)
})

const recordHint = "functions with `meta.record: { inputs: true, hostCalls: true }` are recorded"

interface Counts {
  readonly replayed: number
  readonly different: number
  readonly incomplete: number
}

const showAll = Effect.fnUntraced(function* (counts: Counts, different: ReadonlyArray<Differing>) {
  const output = yield* Output
  const summary = `${counts.replayed} runs replayed: ${counts.different} differ, ${counts.incomplete} incomplete`
  if (output.json) {
    const runs = different.map(({ recording, difference }) => ({ run_id: recording.run_id, difference }))
    yield* output.print({ ...counts, different: runs }, () => "")
  } else if (different.length > 0) {
    yield* printTable(columns, { items: different, total: different.length }, "")
  }
  if (different.length > 0) return yield* failure("replay_differs", summary)
  yield* output.note(summary)
})

const columns: ReadonlyArray<Column<Differing>> = [
  { title: "RUN", of: ({ recording }) => recording.run_id },
  { title: "FUNCTION", of: ({ recording }) => functionText(recording), isFlexible: true, isExtra: true },
  { title: "FIRST DIFFERENCE", of: ({ difference }) => differenceText(difference), isFlexible: true }
]
