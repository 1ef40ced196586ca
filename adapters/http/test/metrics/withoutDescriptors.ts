/** A program that reads its metrics after a garbage collection without free file descriptors. Needs `--expose-gc`. */
import { closeSync, openSync } from "node:fs"
import { setImmediate, setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { openProcessMeter } from "../../src/metrics/ProcessMeter.ts"

/** Opens files until the process has no free descriptor. */
const exhaust = (): ReadonlyArray<number> => {
  const files: Array<number> = []
  try {
    for (;;) files.push(openSync("/dev/null", "r"))
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EMFILE")) throw error
  }
  return files
}

const program = Effect.gen(function* () {
  const read = yield* openProcessMeter
  const files = exhaust()
  yield* Effect.promise(async () => {
    global.gc?.()
    // Node reports the collection in a later turn of the event loop.
    await setTimeout(50)
    await setImmediate()
  })
  const values = read().map((series) => [series.name, "value" in series ? series.value : null])
  for (const file of files) closeSync(file)
  process.stdout.write(JSON.stringify(Object.fromEntries(values)))
})

await Effect.runPromise(Effect.scoped(program))
