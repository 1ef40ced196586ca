/** Paths of requests. */

/** Makes a path of a template, its values escaped. Fails for values that would make it another path. */
export const path = (strings: TemplateStringsArray, ...values: ReadonlyArray<string | number>): string =>
  String.raw({ raw: strings }, ...values.map((value) => segment(String(value))))

/** URLs are tidied up by whoever sends them: `..` would be a step up, however it is escaped. */
const segment = (value: string): string => {
  if (/^\.{0,2}$/.test(value)) throw new TypeError(`"${value}" can be no part of a path: it is the name of nothing`)
  return encodeURIComponent(value)
}

/** `?limit=…`; empty when nothing is asked for. */
export const queryOf = (query: object): string => {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`
}
