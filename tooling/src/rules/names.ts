/** A name that says nothing is a place where everything lands. */
import type { Finding } from "../Finding.ts"
import { emptyNames } from "../Layout.ts"
import type { Repository } from "../Repository.ts"

export const names = (repository: Repository): ReadonlyArray<Finding> =>
  [...repository.sources.keys()].flatMap((file) => {
    const word = file
      .split("/")
      .flatMap(wordsOf)
      .find((word) => emptyNames.includes(word))
    return word === undefined ? [] : [{ file, line: 1, rule: "name", message: `"${word}" names no concept` }]
  })

const wordsOf = (segment: string): ReadonlyArray<string> =>
  segment
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
