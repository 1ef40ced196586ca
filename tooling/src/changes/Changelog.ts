/** The unreleased part of `CHANGELOG.md`. */

const unreleased = "## Unreleased\n"
const heading = "\n### Changes\n\n"

/** Returns the text of a changeset without its list of packages. */
export const readChange = (changeset: string): string => changeset.replace(/^---\n.*?---\n/s, "").trim()

/** Adds changes to the unreleased part, below those of earlier changesets. */
export const withChanges = (changelog: string, changes: ReadonlyArray<string>): string => {
  const start = changelog.indexOf(unreleased) + unreleased.length
  if (start < unreleased.length) throw new Error(`CHANGELOG.md needs the heading "${unreleased.trim()}"`)
  const items = changes.map((change) => `- ${change.replaceAll("\n", "\n  ")}\n`).join("")
  const rest = changelog.slice(start)
  const others = rest.startsWith(heading) ? rest.slice(heading.length) : `\n${rest.trimStart()}`
  const end = rest.startsWith(heading) ? others.search(/^\n/m) : 0
  return `${changelog.slice(0, start)}${heading}${others.slice(0, end)}${items}${others.slice(end)}`
}
