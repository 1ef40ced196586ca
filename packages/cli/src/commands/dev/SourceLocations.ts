/** Finds the source location of functions that servers name in errors. */
import { readFileSync } from "node:fs"
import { relative } from "node:path"

/**
 * Finds the line that exports the function `ns/name` of a message. Returns `file:line:column`, or null. It searches the
 * text, because servers know only the names of exports.
 */
export const findExport = (message: string, folder: string, inputs: ReadonlyArray<string>): string | null => {
  const name = /(?:^|[^\w$/])[\w$]+\/([\w$]+)/.exec(message)?.[1]
  if (name === undefined) return null
  const exported = new RegExp(
    `^\\s*export\\s+(?:default\\s+)?(?:async\\s+)?(?:const|let|var|function\\*?)\\s+(${escapeName(name)})\\b`
  )
  for (const input of inputs.filter((file) => file.startsWith(folder) && !file.includes("node_modules"))) {
    const lines = readSource(input).split("\n")
    const index = lines.findIndex((line) => exported.test(line))
    if (index === -1) continue
    return `${relative(folder, input)}:${index + 1}:${(lines[index]?.indexOf(name) ?? 0) + 1}`
  }
  return null
}

const escapeName = (name: string): string => name.replaceAll("$", "\\$")

/** Reads a source file; empty for assets, which need not be text. */
const readSource = (file: string): string => (/\.[cm]?[jt]sx?$/.test(file) ? readFileSync(file, "utf8") : "")
