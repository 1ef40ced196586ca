/** Arrows point one way: adapters to core, outer folders to inner ones, nothing to examples. */
import type { Finding } from "../Finding.ts"
import { annexes, type Direction, directions, isDevelopment, leafFolders, rooms, wings } from "../Layout.ts"
import { packageOf, type Repository, resolveReference, workspaceOf } from "../Repository.ts"
import type { Import, Source } from "../Source.ts"

export const importDirections = (repository: Repository): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  for (const source of repository.sources.values()) {
    for (const imported of source.imports) {
      const message =
        leafImported(repository, source, imported) ??
        outsideWorkspace(repository, source, imported) ??
        (isDevelopment(source.path) ? undefined : againstDirection(repository, source, imported)) ??
        againstCoreOrder(repository, source, imported)
      if (message !== undefined) {
        findings.push({ file: source.path, line: imported.line, rule: "import-direction", message })
      }
    }
  }
  return findings
}

const leafImported = (repository: Repository, source: Source, imported: Import): string | undefined => {
  const target = folderOf(repository, packageOf(imported.specifier))
  if (target === undefined || !leafFolders.some((leaf) => target.startsWith(leaf))) return undefined
  return workspaceOf(repository, source.path)?.folder === target
    ? undefined
    : `${target} is an end of its own and may not be imported (${imported.specifier})`
}

const outsideWorkspace = (repository: Repository, source: Source, imported: Import): string | undefined => {
  const target = imported.specifier.startsWith(".")
    ? resolveReference(repository, source.path, imported.specifier)
    : undefined
  if (target === undefined) return undefined
  const from = workspaceOf(repository, source.path)?.folder
  const to = workspaceOf(repository, target.path)?.folder
  const sharedConfiguration = to === "tooling" && /\.config\.ts$/.test(source.path)
  const annexed = from !== undefined && annexes.get(from) === to
  return from === to || sharedConfiguration || annexed
    ? undefined
    : `${imported.specifier} leaves ${from} by a relative path`
}

const againstDirection = (repository: Repository, source: Source, imported: Import): string | undefined => {
  const direction = directions.find(({ folder }) => isBelow(source.path, folder))
  if (direction === undefined) return undefined
  if (imported.specifier.startsWith("node:")) {
    return direction.packages === "declared" ? undefined : `${direction.folder} may not import Node's modules`
  }
  const name = packageOf(imported.specifier)
  if (name === undefined || mayImport(repository, direction, name)) return undefined
  return `${direction.folder} may not import ${imported.specifier}`
}

const mayImport = (repository: Repository, direction: Direction, name: string): boolean =>
  repository.workspaces.some(({ manifest }) => manifest.name === name)
    ? direction.workspaces.includes(name)
    : direction.packages === "declared" || direction.packages.includes(name)

const againstCoreOrder = (repository: Repository, source: Source, imported: Import): string | undefined => {
  const target = imported.specifier.startsWith(".")
    ? resolveReference(repository, source.path, imported.specifier)
    : undefined
  if (target === undefined || !isBelow(target.path, coreSources) || !isBelow(source.path, coreSources)) {
    return undefined
  }
  const [from = "", fromRoom = ""] = segmentsInCore(source.path)
  const [to = "", toRoom = ""] = segmentsInCore(target.path)
  const layers = from === to ? rooms.get(from) : undefined
  return againstLayers(from, to, wings) ?? (layers && againstLayers(fromRoom, toRoom, layers))
}

const againstLayers = (from: string, to: string, layers: ReadonlyArray<ReadonlyArray<string>>): string | undefined => {
  const [fromRank, toRank] = [rank(from, layers), rank(to, layers)]
  if (fromRank === -1 || toRank === -1)
    return `${fromRank === -1 ? from : to} has no place in the order of core's folders`
  if (from === to || toRank < fromRank || (toRank === fromRank && isFile(from))) return undefined
  return toRank === fromRank
    ? `${from} and ${to} may not import each other`
    : `${from} comes before ${to} and may not import it`
}

/** Ranks folders as listed, then the files next to the wings, `index.ts` last; -1 for all others. */
const rank = (name: string, layers: ReadonlyArray<ReadonlyArray<string>>): number => {
  if (layers !== wings || !isFile(name)) return layers.findIndex((layer) => layer.includes(name))
  return layers.length + (name === "index.ts" ? 1 : 0)
}

const isFile = (name: string): boolean => name.endsWith(".ts")

const coreSources = "packages/core/src"

const segmentsInCore = (path: string): ReadonlyArray<string> => path.slice(coreSources.length + 1).split("/")

const isBelow = (path: string, folder: string): boolean =>
  folder.endsWith("/*") ? path.startsWith(folder.slice(0, -1)) : path.startsWith(`${folder}/`)

const folderOf = (repository: Repository, name: string | undefined): string | undefined =>
  repository.workspaces.find(({ manifest }) => manifest.name === name)?.folder
