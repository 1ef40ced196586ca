/** The processes that hold guests load neither effect nor the host's code, and nobody else loads the engine. */
import type { Finding } from "../Finding.ts"
import { engine, guestSide } from "../Layout.ts"
import { packageOf, type Repository, resolveReference } from "../Repository.ts"
import type { Source } from "../Source.ts"

export const guestSideImports = (repository: Repository): ReadonlyArray<Finding> => [
  ...engineOutside(repository),
  ...hostInside(repository)
]

const engineOutside = (repository: Repository): ReadonlyArray<Finding> =>
  [...repository.sources.values()].flatMap((source) =>
    source.path.startsWith(engine.folder) || source.path.startsWith(engine.peers)
      ? []
      : source.imports
          .filter((imported) => !imported.typeOnly && packageOf(imported.specifier) === engine.package)
          .map((imported) => ({
            file: source.path,
            line: imported.line,
            rule: "guest-side",
            message: `only ${engine.folder} may load ${engine.package}`
          }))
  )

const hostInside = (repository: Repository): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  for (const source of loadedByGuestSide(repository)) {
    for (const imported of source.imports) {
      const name = packageOf(imported.specifier)
      if (imported.typeOnly || name === undefined || !(name === "effect" || name.startsWith("@weft/"))) continue
      findings.push({
        file: source.path,
        line: imported.line,
        rule: "guest-side",
        message: `runs in the processes of guests and may import only types from ${name}`
      })
    }
  }
  return findings
}

const loadedByGuestSide = (repository: Repository): ReadonlySet<Source> => {
  const open = [...repository.sources.values()].filter(({ path }) => guestSide.some((side) => path.startsWith(side)))
  const loaded = new Set<Source>()
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    if (loaded.has(source)) continue
    loaded.add(source)
    for (const { specifier, typeOnly } of source.imports) {
      const target =
        typeOnly || !specifier.startsWith(".") ? undefined : resolveReference(repository, source.path, specifier)
      if (target !== undefined) open.push(target)
    }
  }
  return loaded
}
