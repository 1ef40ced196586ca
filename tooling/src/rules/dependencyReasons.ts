/** The page of decisions must give the reason for each dependency. */
import { posix } from "node:path"
import type { Finding } from "../Finding.ts"
import type { Repository } from "../Repository.ts"

const page = "docs/decisions/README.md"

/** A package name, with or without a scope. */
const packageName = /(?<![\w@/.-])(?:@[\w.-]+\/)?[\w][\w.-]*(?![\w/-])/g

export const dependencyReasons = ({ texts, workspaces }: Repository): ReadonlyArray<Finding> => {
  const rows = (texts.get(page) ?? "").split("\n").filter((line) => line.startsWith("|"))
  const explained = new Set(rows.flatMap((row) => row.split("|")[1]?.match(packageName) ?? []))
  const own = new Set(workspaces.map(({ manifest }) => manifest.name))
  return workspaces.flatMap(({ folder, manifest }) => {
    const file = posix.join(folder, "package.json")
    const lines = (texts.get(file) ?? "").split("\n")
    return (
      Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies })
        // Types belong to the package that they describe.
        .filter((name) => !explained.has(name) && !own.has(name) && !name.startsWith("@types/"))
        .map((name) => ({
          file,
          line: lines.findIndex((text) => text.includes(`"${name}":`)) + 1,
          rule: "dependency-reason",
          message: `${page} has no row for ${name}`
        }))
    )
  })
}
