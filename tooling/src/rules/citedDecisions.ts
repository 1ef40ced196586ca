/** Sections of the decisions page that comments cite must exist. */
import type { Finding } from "../Finding.ts"
import type { Repository } from "../Repository.ts"

const page = "docs/decisions/specification.md"

const heading = /^#{2,3} (\d+(?:\.\d+)?)/gm
const citation = /\bdecisions (?:section )?(\d+(?:\.\d+)?)(?: and (\d+(?:\.\d+)?))?/g

export const citedDecisions = ({ texts, sources }: Repository): ReadonlyArray<Finding> => {
  const sections = new Set([...(texts.get(page) ?? "").matchAll(heading)].map(([, section]) => section))
  return [...sources.keys()].flatMap((file) =>
    (texts.get(file) ?? "").split("\n").flatMap((line, index) =>
      [...line.matchAll(citation)]
        .flatMap(([, ...cited]) => cited)
        .filter((section) => section !== undefined && !sections.has(section))
        .map((section) => ({
          file,
          line: index + 1,
          rule: "cited-decision",
          message: `${page} has no section ${section}`
        }))
    )
  )
}
