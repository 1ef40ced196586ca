/** Filters of esbuild's plugins, which are regular expressions of Go. */

const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")

/** Matches exactly these texts; with `below`, also paths below them. */
export const anyOf = (texts: ReadonlyArray<string>, below = false): RegExp =>
  new RegExp(`^(?:${texts.map(escape).join("|")})${below ? "(?:/.*)?" : ""}$`)
