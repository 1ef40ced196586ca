/** The tracked files of the repository, read once, with what the rules ask of them. */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import { Schema } from "effect"
import type { Finding } from "./Finding.ts"
import { parseSource, type Source } from "./Source.ts"

const Names = Schema.Record(Schema.String, Schema.String)

/** The fields of a `package.json` that rules look at. */
export const Manifest = Schema.Struct({
  name: Schema.String,
  exports: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Union([Schema.String, Schema.Record(Schema.String, Schema.NullOr(Schema.String))])
    )
  ),
  dependencies: Schema.optionalKey(Names),
  devDependencies: Schema.optionalKey(Names),
  peerDependencies: Schema.optionalKey(Names)
})
export type Manifest = typeof Manifest.Type

export interface Workspace {
  /** From the root, without a slash at the end; `""` is the root itself. */
  readonly folder: string
  readonly manifest: Manifest
}

export interface Repository {
  /** Every tracked text file by its path from the root. */
  readonly texts: ReadonlyMap<string, string>
  /** The TypeScript files among them. */
  readonly sources: ReadonlyMap<string, Source>
  /** Those that could not be read. */
  readonly unreadable: ReadonlyArray<Finding>
  /** Deepest folder first, so that the first match is the nearest. */
  readonly workspaces: ReadonlyArray<Workspace>
}

export const repositoryOf = (files: ReadonlyMap<string, string>): Repository => {
  const sources = new Map<string, Source>()
  const unreadable: Array<Finding> = []
  const workspaces: Array<Workspace> = []
  for (const [path, text] of files) {
    if (/\.[cm]?tsx?$/.test(path)) {
      const source = parseSource(path, text)
      if ("rule" in source) unreadable.push(source)
      else sources.set(path, source)
    }
    if (posix.basename(path) === "package.json") {
      const folder = posix.dirname(path)
      workspaces.push({ folder: folder === "." ? "" : folder, manifest: decodeManifest(text) })
    }
  }
  workspaces.sort((a, b) => b.folder.length - a.folder.length)
  return { texts: files, sources, unreadable, workspaces }
}

/** Reads what git tracks below `root`, as it stands in the work tree. Binary files are left out. */
export const readRepository = (root: string): Repository => {
  const listed = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 })
  const files = new Map<string, string>()
  for (const path of listed.split("\0")) {
    const file = posix.join(root, path)
    if (path === "" || !existsSync(file)) continue
    const bytes = readFileSync(file)
    if (!bytes.includes(0)) files.set(path, bytes.toString("utf8"))
  }
  return repositoryOf(files)
}

/** The workspace that a file belongs to, if any holds it. */
export const workspaceOf = (repository: Repository, path: string): Workspace | undefined =>
  repository.workspaces.find(({ folder }) => folder === "" || path.startsWith(`${folder}/`))

/** The tracked TypeScript file that a relative reference names; `.js` stands for the `.ts` it is made from. */
export const resolveReference = (repository: Repository, from: string, reference: string): Source | undefined => {
  const path = posix.join(posix.dirname(from), reference)
  return repository.sources.get(path) ?? repository.sources.get(path.replace(/\.js$/, ".ts"))
}

/** The package that a bare specifier names, or undefined for relative ones and Node's own. */
export const packageOf = (specifier: string): string | undefined => {
  if (/^(\.|node:|#|\/)/.test(specifier)) return undefined
  const segments = specifier.split("/")
  return specifier.startsWith("@") ? segments.slice(0, 2).join("/") : segments[0]
}

const decodeManifest = Schema.decodeUnknownSync(Schema.fromJsonString(Manifest))
