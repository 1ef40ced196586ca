/** Reads the public declarations of a package entry from the `.d.ts` files that `tsc -b` writes. */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseSync } from "oxc-parser"

export interface Declaration {
  readonly name: string
  /** The declaration as TypeScript wrote it, without its docstring. */
  readonly text: string
}

interface Module {
  /** Exported names with the declarations of this module. */
  readonly own: ReadonlyMap<string, string>
  /** Exported names with the module that declares them, and their name in it. */
  readonly forwarded: ReadonlyMap<string, { readonly from: string; readonly name: string }>
  /** Modules that are exported as a whole. */
  readonly wildcards: ReadonlyArray<string>
}

/** Returns all exported names of the entry with their declarations, sorted by name. */
export const readDeclarations = (entry: string): ReadonlyArray<Declaration> => {
  const modules = new Map<string, Module>()
  const open = (file: string): Module => {
    const known = modules.get(file)
    if (known !== undefined) return known
    const read = readModule(file)
    modules.set(file, read)
    return read
  }
  const find = (file: string, name: string): string | undefined => {
    const { own, forwarded, wildcards } = open(file)
    const text = own.get(name)
    if (text !== undefined) return text
    const target = forwarded.get(name)
    if (target !== undefined) return findIn(file, target.from, target.name)
    for (const from of wildcards) {
      const found = findIn(file, from, name)
      if (found !== undefined) return found
    }
    return undefined
  }
  const findIn = (file: string, from: string, name: string): string | undefined => {
    const target = resolveDeclaration(file, from)
    return target === undefined ? `from "${from}"` : find(target, name)
  }
  const namesOf = (file: string): ReadonlyArray<string> => {
    const { own, forwarded, wildcards } = open(file)
    const further = wildcards.flatMap((from) => {
      const target = resolveDeclaration(file, from)
      return target === undefined ? [] : namesOf(target)
    })
    return [...own.keys(), ...forwarded.keys(), ...further]
  }
  return [...new Set(namesOf(entry))].sort().map((name) => {
    const text = find(entry, name)
    if (text === undefined) throw new Error(`${entry} exports ${name}, which no module declares`)
    return { name, text }
  })
}

/** Returns the declaration file of a relative import; undefined for another package. */
const resolveDeclaration = (file: string, from: string): string | undefined => {
  if (!from.startsWith(".")) return undefined
  const path = join(dirname(file), from.replace(/\.(?:ts|js)$/, ".d.ts"))
  if (!existsSync(path)) throw new Error(`${file} imports ${from}, which is not built: npx tsc -b`)
  return path
}

const readModule = (file: string): Module => {
  const code = readFileSync(file, "utf8")
  const { program, module } = parseSync(file, code)
  const declared = new Map<string, Array<string>>()
  for (const statement of program.body) {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
    for (const name of declaredNames(declaration)) {
      const text = code
        .slice(statement.start, statement.end)
        .replace(/^export declare |^export |^declare /, "")
        .replace(/\n?[ \t]*\/\*\*[\s\S]*?\*\//g, "")
        // The path of an inferred type depends on the order in which the compiler saw the modules.
        .replace(/import\("[^"]+"\)\./g, "")
      declared.set(name, [...(declared.get(name) ?? []), text])
    }
  }
  const own = new Map<string, string>()
  const forwarded = new Map<string, { readonly from: string; readonly name: string }>()
  const wildcards: Array<string> = []
  const imported = new Map(
    module.staticImports.flatMap((statement) =>
      statement.entries.map((entry): readonly [string, { readonly from: string; readonly name: string }] => [
        entry.localName.value,
        { from: statement.moduleRequest.value, name: entry.importName.name ?? "default" }
      ])
    )
  )
  for (const entry of module.staticExports.flatMap(({ entries }) => entries)) {
    const from = entry.moduleRequest?.value
    const name = entry.exportName.name
    if (name === null || name === undefined) {
      if (from !== undefined) wildcards.push(from)
      continue
    }
    if (entry.importName.kind === "All") {
      own.set(name, `* as ${name} from "${from}"`)
      continue
    }
    const local = entry.localName.name ?? entry.importName.name ?? name
    const target = from === undefined ? imported.get(local) : { from, name: entry.importName.name ?? name }
    if (target === undefined) own.set(name, (declared.get(local) ?? []).join("\n"))
    else forwarded.set(name, target)
  }
  return { own, forwarded, wildcards }
}

type Named = { readonly type: string; readonly id?: unknown; readonly declarations?: unknown } | null

/** Returns the names that a statement declares. */
const declaredNames = (statement: Named): ReadonlyArray<string> => {
  if (statement === null) return []
  if (Array.isArray(statement.declarations)) return statement.declarations.flatMap(({ id }) => nameIn(id))
  return nameIn(statement.id)
}

const nameIn = (id: unknown): ReadonlyArray<string> =>
  typeof id === "object" && id !== null && "name" in id && typeof id.name === "string" ? [id.name] : []
