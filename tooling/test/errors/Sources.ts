/** What the sources say to people when they refuse something, and by which names. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseSync, Visitor } from "oxc-parser"

const root = fileURLToPath(new URL("../../..", import.meta.url))

export const textOf = (file: string): string => readFileSync(root + file, "utf8")

/** The TypeScript files below folders of the repository. */
export const filesBelow = (...folders: ReadonlyArray<string>): ReadonlyArray<string> =>
  folders.flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => `${folder}/${file}`)
  )

/** The literals of files that have a space in them, with `…` for what is put in. */
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

/** What the first group of a pattern finds in files. */
export const namesIn = (files: ReadonlyArray<string>, ...patterns: ReadonlyArray<RegExp>): ReadonlySet<string> =>
  new Set(
    files.flatMap((file) => {
      const text = textOf(file)
      return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = ""]) => name))
    })
  )
