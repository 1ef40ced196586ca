/** The prose of shell scripts, YAML and manifests: comments after `#` on their own lines, and descriptions. */
import { blank, maskCode, type Passage } from "./Passage.ts"

/** Comments that follow each other are one passage. */
export const passagesInHashComments = (text: string): ReadonlyArray<Passage> =>
  [...text.matchAll(/^[ \t]*#(?![!]).*(?:\n[ \t]*#.*)*/gm)].map((match) => ({
    kind: "comment",
    start: match.index,
    text: maskCode(match[0].replace(/^[ \t]*#+/gm, blank)),
    opens: false
  }))

/** The `description` of a `package.json`. */
export const passagesInManifest = (text: string): ReadonlyArray<Passage> =>
  [...text.matchAll(/(?<="description": ")[^"\\]+/g)].map((match) => ({
    kind: "string",
    start: match.index,
    text: maskCode(match[0]),
    opens: false
  }))
