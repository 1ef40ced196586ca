/** A host without free descriptors when it starts its first runner. Prints what it starts then, and what it starts later. */
import { closeSync, openSync } from "node:fs"
import { runnerEntry } from "../../src/Entries.ts"
import { confinedCommand } from "../../src/supervisor/Confinement.ts"
import type { RunnerDeath } from "../../src/supervisor/RunnerDeath.ts"
import { RunnerProcess } from "../../src/supervisor/RunnerProcess.ts"

const files: Array<number> = []
try {
  for (;;) files.push(openSync("/dev/null", "r"))
} catch (error) {
  if (!(error instanceof Error && "code" in error && error.code === "EMFILE")) throw error
}
const death = await new Promise<RunnerDeath>((died) => new RunnerProcess(1024, { message: () => undefined, died }))
for (const file of files) closeSync(file)
console.log(JSON.stringify({ death, later: confinedCommand(runnerEntry, []) }))
