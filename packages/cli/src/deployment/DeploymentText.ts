/** Text for entry points and their changes. */
import type { Paint } from "../output/Paint.ts"
import type { Change } from "./Changes.ts"
import type { EntryPoint } from "./EntryPoints.ts"

/** Returns one line per change. */
export const changeLines = (changes: ReadonlyArray<Change>, paint: Paint): ReadonlyArray<string> => {
  const width = kindWidth(changes)
  return changes.map(({ change, kind, name, fn, fields }) => {
    const line = `${kind.padEnd(width)}  ${name}${functionSuffix(kind, name, fn)}`
    if (change === "added") return paint.green(`+ ${line}`)
    if (change === "removed") return paint.red(`- ${line}`)
    return paint.yellow(`~ ${line}: ${fields.join(", ")}`)
  })
}

/** Returns one line per entry point, with an optional note at its end. */
export const entryPointLines = (
  entryPoints: ReadonlyArray<EntryPoint>,
  paint: Paint,
  getNote: (entryPoint: EntryPoint) => string | null
): ReadonlyArray<string> => {
  const width = kindWidth(entryPoints)
  return entryPoints.map((entryPoint) => {
    const note = getNote(entryPoint)
    const { kind, name, fn } = entryPoint
    return `  ${paint.dim(kind.padEnd(width))}  ${name}${paint.dim(functionSuffix(kind, name, fn))}${note === null ? "" : `  ${note}`}`
  })
}

const kindWidth = (all: ReadonlyArray<{ readonly kind: string }>): number =>
  Math.max(0, ...all.map(({ kind }) => kind.length))

/** Returns the function as a suffix, unless the name already ends with it, as for handlers and schedules. */
const functionSuffix = (kind: string, name: string, fn: string): string =>
  kind === "function" || name.endsWith(fn) ? "" : ` → ${fn}`
