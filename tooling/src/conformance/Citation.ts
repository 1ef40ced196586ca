/** Parses citations of tests: `[test](../path/of.test.ts "title of the test")`. */
import { posix } from "node:path"

export interface Citation {
  /** From the root of the repository. */
  readonly file: string
  readonly title: string
}

const form = /\[test\]\((\S+) "((?:[^"\\]|\\.)*)"\)/g

/** Returns the citations in a text of this page, or null if a link named `test` has another form. */
export const citationsIn = (page: string, text: string): ReadonlyArray<Citation> | null => {
  const citations = [...text.matchAll(form)].map(([, target = "", title = ""]) => ({
    file: posix.join(posix.dirname(page), target),
    title: title.replace(/\\(.)/g, "$1")
  }))
  return citations.length === text.split("[test]").length - 1 ? citations : null
}
