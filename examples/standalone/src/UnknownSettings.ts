/** Detection of misspelt settings. An ignored one would change the server silently, for example its database. */

/** Settings of the command line, which may share its environment with the server. */
const otherPrograms = ["WEFT_URL", "WEFT_PROFILE"]

/** Maximum edits between a misspelt name and the suggested one. */
const editsMax = 4

/** Returns the first name in `given` that begins with `WEFT_`, in any case, but is not a known setting; or null. */
export const findUnknown = (
  given: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>
): string | null =>
  Object.keys(given).find(
    (name) =>
      /^weft_/i.test(name) &&
      !known.has(name) &&
      !otherPrograms.includes(name) &&
      // An empty value has no effect, as for every setting.
      (given[name] ?? "").trim() !== "" &&
      !isServiceLink(name, given[name] ?? "")
  ) ?? null

/** True for a variable that Kubernetes sets for a service whose name begins with `weft`, such as `WEFT_SERVICE_HOST`. */
const isServiceLink = (name: string, value: string): boolean =>
  /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name) ||
  /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
  (name.endsWith("_PORT") && /^(tcp|udp|sctp):\/\//.test(value))

/** Returns the only known name that continues the given one, otherwise the most similar one, or null if none is similar. */
export const findNearest = (name: string, known: ReadonlySet<string>): string | null => {
  const [continued, ...others] = [...known].filter((candidate) => candidate.startsWith(`${name.toUpperCase()}_`))
  if (continued !== undefined && others.length === 0) return continued
  const [nearest] = [...known]
    .map((candidate) => ({ candidate, edits: countEdits(name.toUpperCase(), candidate) }))
    .sort((a, b) => a.edits - b.edits)
  return nearest !== undefined && nearest.edits <= editsMax ? nearest.candidate : null
}

/** Returns the Levenshtein distance: the number of inserted, deleted and replaced characters. */
const countEdits = (from: string, to: string): number => {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
