/** The host calls that move bytes between a guest and the world: of `fetch`, of files and of assets. */
import { Effect } from "effect"
import type { Assets } from "../builds/Assets.ts"
import type { FileLinks } from "../files/FileLinks.ts"
import type { Files } from "../files/Files.ts"
import type { HostCall, HostCallRefused } from "../sandbox/Sandbox.ts"
import { makeAssetCalls } from "./AssetCalls.ts"
import { Contents } from "./Contents.ts"
import { makeFetchCalls } from "./FetchCalls.ts"
import { makeFileCalls } from "./FileCalls.ts"
import type { Owner } from "./GuestOperation.ts"

export interface ByteCalls {
  /** Answers an operation of one of the tables; null for any other. */
  readonly answer: (run: Owner, call: HostCall) => Effect.Effect<string, HostCallRefused> | null
  /** Closes what the run has left open. */
  readonly end: (run: Owner) => Effect.Effect<void>
}

export const makeByteCalls: Effect.Effect<ByteCalls, never, Files | FileLinks | Assets> = Effect.gen(function* () {
  const fetchCalls = yield* makeFetchCalls
  const contents = new Contents()
  const fileCalls = yield* makeFileCalls(contents)
  const assetCalls = yield* makeAssetCalls(contents)
  const operations = new Map([...contents.operations, ...fileCalls.operations, ...assetCalls])

  return {
    answer: (run, call) => operations.get(call.op)?.(run, call.payload) ?? fetchCalls.answer(run, call),
    end: (run) =>
      Effect.andThen(Effect.andThen(fetchCalls.end(run), contents.endAll(run.run_id)), fileCalls.endAll(run))
  }
})
