/** Writes a test for vitest that replays one recorded run. */
import type { RunRecording } from "@weft/client"
import { Effect, FileSystem, Path } from "effect"
import { failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { readProject } from "../../project/Project.ts"

export const exportTest = Effect.fnUntraced(function* (recording: RunRecording, file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const output = yield* Output
  if (recording.input.replay !== undefined) {
    return yield* failure("replay", "A durable run cannot be exported", "test its function with `testDurable`")
  }
  const { entry } = yield* readProject
  const target = path.resolve(file)
  const relative = path.relative(path.dirname(target), entry).replaceAll(path.sep, "/")
  const text = testText(recording, relative.startsWith(".") ? relative : `./${relative}`)
  yield* fs.makeDirectory(path.dirname(target), { recursive: true }).pipe(
    Effect.andThen(fs.writeFileString(target, text)),
    Effect.mapError((error) => failure("file", `${file} cannot be written: ${error.message}`))
  )
  yield* output.print({ file: target, run_id: recording.run_id }, () => `${file}: run it with \`npx vitest ${file}\``)
})

/** Returns the source of the test. Texts of JSON become values, so that people can read and change them. */
const testText = (recording: RunRecording, entry: string): string => {
  const { run_id, ns, var: name, status, result, redact, truncated, input, calls } = recording
  const value = {
    run_id,
    fn: `${ns}/${name}`,
    trigger: input.trigger,
    svc: JSON.parse(input.svc),
    ...(input.body === null ? {} : { body: input.body }),
    calls: calls.map(({ op, args, answer, error }) => ({
      op,
      args: parse(args),
      ...(answer === null ? {} : { answer: parse(answer) }),
      ...(error === null ? {} : { error })
    })),
    status,
    result: JSON.parse(result),
    ...(redact.length === 0 ? {} : { redact }),
    ...(truncated ? { truncated } : {})
  }
  return `/** The recorded run ${run_id}. Written by \`weft replay --export\`. */
import { type RecordedRun, replayRun } from "@weft/sdk/testing"
import { expect, test } from "vitest"
import * as project from ${JSON.stringify(entry)}

const recording: RecordedRun = ${toSource(value)}

test(${JSON.stringify(`${ns}/${name} repeats the run ${run_id}`)}, async () => {
  const { difference } = await replayRun(project, recording)
  expect(difference).toBeNull()
})
`
}

/** Parses JSON text; empty text is no value. */
const parse = (text: string): unknown => (text === "" ? null : JSON.parse(text))

/** Returns a value as source text. JSON is not always JavaScript: `__proto__` would set the prototype. */
const toSource = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll('"__proto__":', '["__proto__"]:')
