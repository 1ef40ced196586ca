/** The imports between the wings of `packages/core/src`. */
import { wings } from "../Layout.ts"
import { type Repository, resolveReference } from "../Repository.ts"

export interface Wing {
  readonly name: string
  /** Names of the imported wings. */
  readonly imports: ReadonlySet<string>
}

const sources = "packages/core/src/"

/** The files next to the wings, in the picture one box. */
export const doors = "Weft.ts"

/** Returns the wings as listed in the layout, and then the files next to them, with what each imports. */
export const importsOfWings = (repository: Repository): ReadonlyArray<Wing> => {
  const imports = new Map([...wings.flat(), doors].map((name) => [name, new Set<string>()]))
  for (const { path, imports: statements } of repository.sources.values()) {
    for (const { specifier } of statements) {
      const target = specifier.startsWith(".") ? resolveReference(repository, path, specifier) : undefined
      const [from, to] = [wingOf(path), wingOf(target?.path ?? "")]
      if (from !== to && to !== undefined) imports.get(from ?? "")?.add(to)
    }
  }
  return [...imports].map(([name, imported]) => ({ name, imports: imported }))
}

const wingOf = (path: string): string | undefined => {
  if (!path.startsWith(sources)) return undefined
  const [folder = ""] = path.slice(sources.length).split("/")
  return folder.endsWith(".ts") ? doors : folder
}
