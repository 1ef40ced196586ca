/** Finds error messages and error names in the sources. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseSync, Visitor } from "oxc-parser"

const root = fileURLToPath(new URL("../../..", import.meta.url))

export const textOf = (file: string): string => readFileSync(root + file, "utf8")

/** Returns the TypeScript files in folders of the repository, recursively. */
export const filesBelow = (...folders: ReadonlyArray<string>): ReadonlyArray<string> =>
  folders.flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => `${folder}/${file}`)
  )

/** Returns the literals that contain a space, with `…` for the expressions of templates. */
export const sentencesIn = (files: ReadonlyArray<string>): ReadonlySet<string> => {
  const found = new Set<string>()
  const add = (text: string) => {
    if (/\S .*\S/.test(text)) found.add(text)
  }
  for (const file of files) {
    const { program } = parseSync(file, textOf(file), { sourceType: "module", lang: "ts" })
    new Visitor({
      Literal: (node) => {
        if (typeof node.value === "string") add(node.value)
      },
      TemplateLiteral: (node) => add(node.quasis.map(({ value }) => value.cooked ?? "").join("…"))
    }).visit(program)
  }
  return found
}

/** Returns all matches of the first group of the patterns. */
export const namesIn = (files: ReadonlyArray<string>, ...patterns: ReadonlyArray<RegExp>): ReadonlySet<string> =>
  new Set(
    files.flatMap((file) => {
      const text = textOf(file)
      return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = ""]) => name))
    })
  )
