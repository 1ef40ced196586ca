/**
 * Replays recorded runs in a sandbox of this process, without a server and without a network.
 *
 * Only the commands that need this module load it. It has its own copy of Effect, so only plain values cross its border.
 */
import type { RunRecording } from "@weft/client"
import { EnvId } from "@weft/core"
import { BuildId, RunId, Sandbox } from "@weft/core/adapter"
import { type ReplayReport, replayRecording } from "@weft/core/internal"
import { sandbox } from "@weft/sandbox"
import { Effect, ManagedRuntime } from "effect"

export type { ReplayReport } from "@weft/core/internal"

/** A build that is ready to run. */
export interface LoadedBuild {
  readonly build_id: string
  readonly artifact: Uint8Array
}

export interface Replayer {
  /** Loads the zip of a build. Rejects if a server would reject it, with the same reason. */
  readonly load: (zip: Uint8Array) => Promise<LoadedBuild>
  readonly replay: (build: LoadedBuild, recording: RunRecording) => Promise<ReplayReport>
  readonly close: () => Promise<void>
}

export const openReplayer = (): Replayer => {
  const runtime = ManagedRuntime.make(sandbox({ runners: 1 }))
  return {
    load: (zip) => runtime.runPromise(loadBuild(zip)),
    replay: (build, recording) => runtime.runPromise(replay(build, recording)),
    close: () => runtime.dispose()
  }
}

const loadBuild = Effect.fnUntraced(function* (zip: Uint8Array) {
  const sandbox = yield* Sandbox
  yield* sandbox.check(zip)
  const { artifact } = yield* sandbox.prepare(zip)
  return { build_id: crypto.randomUUID(), artifact } satisfies LoadedBuild
})

const replay = ({ build_id, artifact }: LoadedBuild, recording: RunRecording) =>
  replayRecording(
    {
      ...recording,
      run_id: RunId.make(recording.run_id),
      truncated: recording.truncated ? 1 : 0
    },
    {
      env_id: EnvId.make(recording.env_id),
      build_id: BuildId.make(build_id),
      artifact: Effect.succeed(artifact),
      renewed: Effect.succeed(artifact)
    }
  )
