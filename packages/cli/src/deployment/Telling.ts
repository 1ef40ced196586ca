/** Builds and their changes in words for people. */
import type { Paint } from "../output/Paint.ts"
import type { Change } from "./Changes.ts"
import type { Offered } from "./Offer.ts"

/** A line for each change. */
export const tellChanges = (changes: ReadonlyArray<Change>, paint: Paint): ReadonlyArray<string> => {
  const width = widthOf(changes)
  return changes.map(({ change, kind, name, fn, fields }) => {
    const line = `${kind.padEnd(width)}  ${name}${behind(kind, name, fn)}`
    if (change === "added") return paint.green(`+ ${line}`)
    if (change === "removed") return paint.red(`- ${line}`)
    return paint.yellow(`~ ${line}: ${fields.join(", ")}`)
  })
}

/** A line for each thing that a build offers; `noteOf` is what else there is to say of it. */
export const tellOffer = (
  offer: ReadonlyArray<Offered>,
  paint: Paint,
  noteOf: (offered: Offered) => string | null
): ReadonlyArray<string> => {
  const width = widthOf(offer)
  return offer.map((offered) => {
    const note = noteOf(offered)
    const { kind, name, fn } = offered
    return `  ${paint.dim(kind.padEnd(width))}  ${name}${paint.dim(behind(kind, name, fn))}${note === null ? "" : `  ${note}`}`
  })
}

const widthOf = (all: ReadonlyArray<{ readonly kind: string }>): number =>
  Math.max(0, ...all.map(({ kind }) => kind.length))

/** The names of handlers and schedules say already which function is meant. */
const behind = (kind: string, name: string, fn: string): string =>
  kind === "function" || name.endsWith(fn) ? "" : ` → ${fn}`
