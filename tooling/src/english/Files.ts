/** The files whose prose is checked. */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"

/** Prose that is made by a program or is data of a test. */
const generated =
  /(?:^|\/)(?:node_modules|dist|corpus)\/|^docs\/http\/|^docs\/api-reports\/|^docs\/reliability\/|^bench\/results\//

const prose = /\.(?:md|[cm]?[tj]sx?|sh|ya?ml)$|(?:^|\/)package\.json$|^\.ci\/run$/

/** Tracked and new files below `root`, of those paths if any are given, by their path from the root. */
export const readProse = (root: string, paths: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const wanted = paths.map((path) => relative(root, resolve(root, path)) || ".")
  const listed = execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard", "--", ...wanted], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26
  })
  const files = new Map<string, string>()
  for (const path of new Set(listed.split("\0"))) {
    if (!prose.test(path) || generated.test(path) || !existsSync(join(root, path))) continue
    files.set(path, readFileSync(join(root, path), "utf8"))
  }
  return files
}
