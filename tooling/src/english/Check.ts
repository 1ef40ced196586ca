import { withoutExceptions } from "./Exceptions.ts"
import type { EnglishFinding } from "./Finding.ts"
import { findingsInMarkdown } from "./Markdown.ts"
import { findingsInSource } from "./Sources.ts"

/** Every finding in files by path, in order of files, lines and columns. */
export const checkEnglish = async (files: ReadonlyMap<string, string>): Promise<ReadonlyArray<EnglishFinding>> => {
  const checked = await Promise.all(
    [...files].map(async ([file, text]) => {
      const findings = file.endsWith(".md") ? await findingsInMarkdown(file, text) : findingsInSource(file, text)
      return [...withoutExceptions(file, text, findings)].sort((a, b) => a.line - b.line || a.column - b.column)
    })
  )
  return checked.flat()
}
