/** Paths and queries of requests. */

/** Builds a path from a template with escaped values. Throws for values that would change the path. */
export const path = (strings: TemplateStringsArray, ...values: ReadonlyArray<string | number>): string =>
  String.raw({ raw: strings }, ...values.map((value) => segment(String(value))))

/** Escapes a value. URL parsers resolve `..` even if it is escaped. */
const segment = (value: string): string => {
  if (/^\.{0,2}$/.test(value))
    throw new TypeError(`"${value}" cannot be a path segment: use the id or name of a resource`)
  return encodeURIComponent(value)
}

/** Builds a query such as `?limit=…`, or an empty string. */
export const buildQuery = (query: object): string => {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`
}
