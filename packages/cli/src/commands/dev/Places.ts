/** Where functions stand in the sources, for what servers say of them by name. */
import { readFileSync } from "node:fs"
import { relative } from "node:path"

/**
 * The first line that exports what a message calls `ns/name`, as `file:line:column`; null if there is none. A search,
 * because names are all that is left of a module when a server looks at it.
 */
export const placeOf = (message: string, folder: string, inputs: ReadonlyArray<string>): string | null => {
  const name = /(?:^|[^\w$/])[\w$]+\/([\w$]+)/.exec(message)?.[1]
  if (name === undefined) return null
  const exported = new RegExp(
    `^\\s*export\\s+(?:default\\s+)?(?:async\\s+)?(?:const|let|var|function\\*?)\\s+(${escaped(name)})\\b`
  )
  for (const input of inputs.filter((file) => file.startsWith(folder) && !file.includes("node_modules"))) {
    const lines = textOf(input).split("\n")
    const index = lines.findIndex((line) => exported.test(line))
    if (index === -1) continue
    return `${relative(folder, input)}:${index + 1}:${(lines[index]?.indexOf(name) ?? 0) + 1}`
  }
  return null
}

const escaped = (name: string): string => name.replaceAll("$", "\\$")

/** Assets are among the inputs, too, and need not be text. */
const textOf = (file: string): string => (/\.[cm]?[jt]sx?$/.test(file) ? readFileSync(file, "utf8") : "")
