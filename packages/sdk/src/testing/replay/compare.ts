/** The first difference of two values, as text for people. */

/** Text of redacted fields in recordings. */
const redactedText = "weft-redacted"

/**
 * Returns `path: recorded → replayed` for the first difference; null for equal values. Fields whose name, or the end of whose
 * path, is among `redact` are equal.
 */
export const describeDifference = (
  recorded: unknown,
  replayed: unknown,
  path: string,
  redact: ReadonlyArray<string>
): string | null => {
  if (recorded === replayed || recorded === redactedText || isRedacted(path, redact)) return null
  if (Array.isArray(recorded) && Array.isArray(replayed)) {
    return first(Math.max(recorded.length, replayed.length), (index) =>
      describeDifference(recorded[index], replayed[index], `${path}[${index}]`, redact)
    )
  }
  if (!isObject(recorded) || !isObject(replayed)) return `${path}: ${toText(recorded)} → ${toText(replayed)}`
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(replayed)])]
  return first(names.length, (index) => {
    const name = names[index] ?? ""
    return describeDifference(read(recorded, name), read(replayed, name), `${path}.${name}`, redact)
  })
}

const isRedacted = (path: string, redact: ReadonlyArray<string>): boolean => {
  const named = path.replace(/\[\d+\]/g, "").toLowerCase()
  return redact.some((field) => named.endsWith(`.${field.toLowerCase()}`))
}

const first = (count: number, find: (index: number) => string | null): string | null => {
  for (let index = 0; index < count; index++) {
    const found = find(index)
    if (found !== null) return found
  }
  return null
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const read = (value: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined

const toText = (value: unknown): string => (value === undefined ? "missing" : JSON.stringify(value))
