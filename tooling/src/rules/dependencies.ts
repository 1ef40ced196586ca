/** What is imported is declared by the nearest package, and what is declared is used. */
import { posix } from "node:path"
import type { Finding } from "../Finding.ts"
import { annexes, isDevelopment, usedWithoutImport } from "../Layout.ts"
import { packageOf, type Repository, type Workspace, workspaceOf } from "../Repository.ts"

export const dependencies = (repository: Repository): ReadonlyArray<Finding> => [
  ...undeclared(repository),
  ...unused(repository)
]

const undeclared = (repository: Repository): ReadonlyArray<Finding> => {
  const root = repository.workspaces.find(({ folder }) => folder === "")?.manifest
  const findings: Array<Finding> = []
  for (const source of repository.sources.values()) {
    const workspace = workspaceOf(repository, source.path)
    const manifest = workspace?.manifest
    const published = {
      ...owner(repository, workspace)?.manifest.dependencies,
      ...manifest?.dependencies,
      ...manifest?.peerDependencies,
      [manifest?.name ?? ""]: ""
    }
    const declared = isDevelopment(source.path)
      ? { ...published, ...manifest?.devDependencies, ...root?.devDependencies }
      : published
    for (const { specifier, line } of source.imports) {
      const name = packageOf(specifier)
      if (name === undefined || Object.hasOwn(declared, name)) continue
      const kind = isDevelopment(source.path) ? "dependency" : "run-time dependency"
      findings.push({
        file: source.path,
        line,
        rule: "undeclared-dependency",
        message: `${name} is no ${kind} of ${manifest?.name ?? "any package"}`
      })
    }
  }
  return findings
}

/** The workspace that this one is part of. */
const owner = (repository: Repository, workspace: Workspace | undefined): Workspace | undefined => {
  const folder = annexes.get(workspace?.folder ?? "")
  return folder === undefined ? undefined : repository.workspaces.find((each) => each.folder === folder)
}

const unused = (repository: Repository): ReadonlyArray<Finding> =>
  repository.workspaces.flatMap((workspace) => {
    const used = packagesUsedBy(repository, workspace)
    const { dependencies, devDependencies, peerDependencies } = workspace.manifest
    return Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })
      .filter((name) => !used.has(name) && !usedWithoutImport.has(name))
      .filter((name) => !(name.startsWith("@types/") && used.has(name.slice("@types/".length))))
      .map((name) => unusedFinding(repository, workspace, name))
  })

/**
 * By import, by a string that is their name (for `import.meta.resolve` and its like), or by a script.
 * The root's tools serve all workspaces, so its dependencies are used when any file uses them.
 */
const packagesUsedBy = (repository: Repository, workspace: Workspace): ReadonlySet<string | undefined> =>
  new Set(
    [...repository.sources.values()]
      .filter(({ path }) => workspace.folder === "" || workspaceOf(repository, path) === workspace)
      .flatMap(({ imports, strings }) => [...imports.map(({ specifier }) => packageOf(specifier)), ...strings])
      .concat(Object.values(workspace.manifest.scripts ?? {}).flatMap((script) => script.split(/\s+/)))
  )

const unusedFinding = (repository: Repository, { folder, manifest }: Workspace, name: string): Finding => {
  const file = posix.join(folder, "package.json")
  const lines = (repository.texts.get(file) ?? "").split("\n")
  return {
    file,
    line: lines.findIndex((text) => text.includes(`"${name}":`)) + 1,
    rule: "unused-dependency",
    message: `${manifest.name} declares ${name} and never uses it`
  }
}
