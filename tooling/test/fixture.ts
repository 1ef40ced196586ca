import { formatFinding } from "../src/Finding.ts"
import { repositoryOf } from "../src/Repository.ts"
import type { Rule } from "../src/rules/index.ts"

/** Returns the findings of a rule in a repository of these files. Objects are written as JSON. */
export const findingsOf = (rule: Rule, files: Readonly<Record<string, string | object>>): ReadonlyArray<string> =>
  rule(
    repositoryOf(
      new Map(
        Object.entries(files).map(([path, file]) => [
          path,
          typeof file === "string" ? file : JSON.stringify(file, null, 2)
        ])
      )
    )
  ).map(formatFinding)

/** Manifests of workspaces of the repository, without dependencies. */
export const manifests = {
  "package.json": { name: "root" },
  "packages/core/package.json": { name: "@weft/core" },
  "packages/api/package.json": { name: "@weft/api" },
  "packages/sandbox/package.json": { name: "@weft/sandbox" },
  "adapters/sqlite/package.json": { name: "@weft/sqlite" },
  "adapters/http/package.json": { name: "@weft/http" },
  "examples/standalone/package.json": { name: "@weft/example-standalone" }
}
