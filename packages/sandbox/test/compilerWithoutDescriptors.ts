/** A host that compiles a bundle with 0 to 7 free descriptors, then with many. Prints the tags of both results. */
import { closeSync, openSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { compile } from "../src/bundle/Compile.ts"

// The module is in memory: only the start of the compiler needs descriptors.
await import("esbuild")
const free = Number(process.argv[2])
const files: Array<number> = []
try {
  for (;;) files.push(openSync("/dev/null", "r"))
} catch (error) {
  if (!(error instanceof Error && "code" in error && error.code === "EMFILE")) throw error
}
for (const file of files.splice(0, free)) closeSync(file)
const tag = Effect.match(compile("export const answer = 42", undefined, 10_000), {
  onFailure: ({ _tag }) => _tag,
  onSuccess: () => "Compiled"
})
const scarce = await Effect.runPromise(tag)
// Node emits the error of a process that did not start in a later turn of the event loop.
await setTimeout(50)
for (const file of files) closeSync(file)
console.log(JSON.stringify({ scarce, plentiful: await Effect.runPromise(tag) }))
process.exit(0)
