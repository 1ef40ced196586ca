/** `npm run tidy`: prints every finding and exits with 1 when there is one. */
import { fileURLToPath } from "node:url"
import { formatFinding } from "./Finding.ts"
import { readRepository } from "./Repository.ts"
import { findingsIn } from "./rules/index.ts"

const repository = readRepository(fileURLToPath(new URL("../..", import.meta.url)))
const findings = findingsIn(repository)
for (const finding of findings) console.log(formatFinding(finding))
console.log(`tidy: ${repository.sources.size} sources, ${findings.length} findings`)
process.exitCode = findings.length === 0 ? 0 : 1
