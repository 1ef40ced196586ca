/**
 * `npm run api`: compares the public declarations of every entry with the committed reports in `docs/api-reports`.
 * `npm run api -- --write` updates them. A change of the public face is then seen in review.
 *
 * `@microsoft/api-extractor` brings a compiler that cannot read the declarations of TypeScript 7.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { publishedPackages, root } from "../build/published.ts"
import { type Declaration, readDeclarations } from "./Declarations.ts"

const folder = join(root, "docs/api-reports")

interface Report {
  readonly file: string
  readonly entry: string
  readonly text: string
  readonly names: number
}

/** Entries with types: an entry whose types are null is closed. */
const listEntries = (): ReadonlyArray<{ readonly entry: string; readonly path: string }> =>
  publishedPackages().flatMap(({ folder: place, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([door, target]) => {
      const types = typeof target === "string" ? undefined : target.types
      return typeof types === "string"
        ? [{ entry: `${manifest.name}${door.slice(1)}`, path: join(root, place, types) }]
        : []
    })
  )

const render = (entry: string, declarations: ReadonlyArray<Declaration>): string =>
  [
    `# ${entry}: ${declarations.length} names`,
    "",
    "Written by `npm run api -- --write`.",
    "",
    ...declarations.flatMap(({ text }) => ["```ts", text, "```", ""])
  ].join("\n")

const reports: ReadonlyArray<Report> = listEntries().map(({ entry, path }) => {
  const declarations = readDeclarations(path)
  return {
    file: `${entry.replace("@", "").replaceAll("/", "-")}.api.md`,
    entry,
    text: render(entry, declarations),
    names: declarations.length
  }
})

const committed = existsSync(folder) ? readdirSync(folder) : []
const stale = committed.filter((file) => !reports.some((report) => report.file === file))

if (process.argv.includes("--write")) {
  mkdirSync(folder, { recursive: true })
  for (const file of stale) rmSync(join(folder, file))
  for (const { file, text } of reports) writeFileSync(join(folder, file), text)
  for (const { entry, names } of reports) console.log(`${entry}: ${names} names`)
} else {
  const changed = reports.filter(
    ({ file, text }) => !committed.includes(file) || readFileSync(join(folder, file), "utf8") !== text
  )
  for (const { entry } of changed) console.error(`${entry}: the public face differs from its report`)
  for (const file of stale) console.error(`docs/api-reports/${file}: no package has this entry`)
  if (changed.length + stale.length > 0) {
    console.error("Review the change, then commit the reports: npm run api -- --write")
    process.exitCode = 1
  } else {
    console.log(
      `api: ${reports.length} entries, ${reports.reduce((sum, { names }) => sum + names, 0)} names, no change`
    )
  }
}
