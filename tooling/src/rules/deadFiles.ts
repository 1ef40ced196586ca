/** Every TypeScript file is reached from something that runs. */
import { posix } from "node:path"
import type { Finding } from "../Finding.ts"
import { isTest } from "../Layout.ts"
import { type Repository, resolveReference, type Workspace } from "../Repository.ts"

export const deadFiles = (repository: Repository): ReadonlyArray<Finding> => {
  const reached = reachedFrom(repository, entriesOf(repository))
  return [...repository.sources.keys()]
    .filter((path) => !reached.has(path))
    .map((file) => ({ file, line: 1, rule: "dead-file", message: "no export, script, test or worker reaches it" }))
}

const entriesOf = (repository: Repository): ReadonlyArray<string> => [
  ...repository.workspaces.flatMap(namedByManifest),
  ...[...repository.sources.keys()].filter(
    (path) => (isTest(path) && path.endsWith(".test.ts")) || /\.(config|d)\.ts$/.test(path) || isProgram(path)
  )
]

/** What people run by hand. */
const isProgram = (path: string): boolean =>
  /^(examples\/[^/]+|bench)\/src\/main\.ts$|^docs\/\.vitepress\/config\.ts$/.test(path)

/** Exports, bins, and the files that scripts run. Scripts are read by word: `node src/main.ts` names one. */
const namedByManifest = ({ folder, manifest }: Workspace): ReadonlyArray<string> => {
  const targets = Object.values(manifest.exports ?? {}).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target)
  )
  const words = Object.values(manifest.scripts ?? {}).flatMap((script) => script.split(/\s+/))
  return [...targets, ...Object.values(manifest.bin ?? {}), ...words].map((path) => posix.join(folder, path))
}

const reachedFrom = (repository: Repository, entries: ReadonlyArray<string>): ReadonlySet<string> => {
  const open = entries.filter((path) => repository.sources.has(path))
  const reached = new Set<string>()
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    for (const text of repository.sources.get(path)?.strings ?? []) {
      const target = /^\.\.?\//.test(text) ? resolveReference(repository, path, text) : undefined
      if (target !== undefined) open.push(target.path)
    }
  }
  return reached
}
