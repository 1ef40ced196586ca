/** `npm run lint:commits`: checks the subjects of commits since the one in `tooling/english/commits.json`. */
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import base from "../../english/commits.json" with { type: "json" }
import { complaintsAboutSubject, readCommits } from "./Subjects.ts"

const { values } = parseArgs({ options: { root: { type: "string" }, after: { type: "string" } } })
const root = resolve(values.root ?? fileURLToPath(new URL("../../..", import.meta.url)))
const commits = readCommits(root, { ...base, after: values.after ?? base.after })
const lines = commits.flatMap(({ id, subject }) =>
  complaintsAboutSubject(subject).map((complaint) => `${id} "${subject}": ${complaint}`)
)
for (const line of lines) console.log(line)
console.log(`commits: ${commits.length} subjects, ${lines.length} findings`)
process.exitCode = lines.length === 0 ? 0 : 1
